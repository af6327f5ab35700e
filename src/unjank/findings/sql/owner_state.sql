-- unjank_owner_state: what the owner of a lock did during each wait for it: a row for each wait, state and
-- kernel function it was blocked in. States as in thread_state: 'Running'; 'R' and 'R+' could run but had no
-- CPU; 'S' slept, 'D' waited in the kernel. Needs the kernel's scheduling in the trace.

INCLUDE PERFETTO MODULE unjank.contention;

-- A table of SQLite's own, since looking up a span of time for each of many waits is quicker there.
DROP TABLE IF EXISTS _unjank_state;

CREATE TABLE _unjank_state AS
SELECT
  thread.tid, s.ts, s.state, s.blocked_function,
  -- What the kernel hid from tracing has no end of its own: it lasts until the thread's next state.
  IIF(s.dur < 0, LEAD(s.ts, 1, trace_end()) OVER (PARTITION BY s.utid ORDER BY s.ts), s.ts + s.dur) AS ts_end
FROM thread_state s JOIN thread USING (utid)
WHERE thread.tid IN (SELECT owner_tid FROM unjank_contention);

CREATE INDEX _unjank_state_of_thread ON _unjank_state(tid, ts);

CREATE OR REPLACE PERFETTO TABLE unjank_owner_state AS
SELECT
  c.id, s.state, s.blocked_function,
  SUM(MIN(s.ts_end, c.ts + c.dur) - MAX(s.ts, c.ts)) AS dur
FROM unjank_contention c
JOIN _unjank_state s
  ON s.tid = c.owner_tid AND s.ts < c.ts + c.dur
  -- from the state in which the owner was when the wait began
  AND s.ts >= COALESCE((SELECT MAX(b.ts) FROM _unjank_state b WHERE b.tid = c.owner_tid AND b.ts <= c.ts), c.ts)
WHERE s.ts_end > c.ts
GROUP BY c.id, s.state, s.blocked_function;
