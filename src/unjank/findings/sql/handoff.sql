-- unjank_handoff: wake-ups between two threads that wake each other, a row each: who woke whom, on which CPU the
-- waker ran, on which one the woken thread ran next, and how long that took. Pairs that wake each other fewer
-- than 50 times each way are left out. Wake-ups by interrupts are left out where the trace tells them apart.

CREATE OR REPLACE PERFETTO TABLE _unjank_waking_pair AS
WITH
  edge AS (
    SELECT utid, waker_utid, COUNT() AS wakeups FROM thread_state
    WHERE waker_id IS NOT NULL AND COALESCE(irq_context, 0) = 0 AND utid != waker_utid
    GROUP BY utid, waker_utid
    HAVING wakeups >= 50
  )
SELECT a.utid AS first_utid, a.waker_utid AS second_utid
FROM edge a JOIN edge b ON a.utid = b.waker_utid AND a.waker_utid = b.utid
WHERE a.utid < a.waker_utid;

CREATE OR REPLACE PERFETTO TABLE unjank_handoff AS
WITH
  state AS (
    SELECT
      ts, utid, state, waker_utid, waker_id, irq_context,
      LEAD(ts) OVER (PARTITION BY utid ORDER BY ts) - ts AS latency,
      LEAD(state) OVER (PARTITION BY utid ORDER BY ts) AS next_state,
      LEAD(cpu) OVER (PARTITION BY utid ORDER BY ts) AS next_cpu
    FROM thread_state
    WHERE
      utid IN (SELECT first_utid FROM _unjank_waking_pair UNION SELECT second_utid FROM _unjank_waking_pair)
  )
SELECT
  pair.first_utid, pair.second_utid, s.ts, s.utid, s.waker_utid, waker.cpu AS waker_cpu, s.next_cpu AS cpu, s.latency
FROM state s
JOIN thread_state waker ON waker.id = s.waker_id
JOIN _unjank_waking_pair pair
  ON pair.first_utid = MIN(s.utid, s.waker_utid) AND pair.second_utid = MAX(s.utid, s.waker_utid)
WHERE s.state = 'R' AND s.next_state = 'Running' AND COALESCE(s.irq_context, 0) = 0
ORDER BY s.ts;
