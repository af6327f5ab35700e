-- switch-storm: threads that went to sleep of their own accord 1,000 times or more within 100 ms, which is 10,000
-- voluntary switches a second; a row for each thread. A spell is storms in a row. `waker` woke it most often.

CREATE OR REPLACE PERFETTO TABLE _unjank_storm AS
SELECT
  s.utid, (s.ts + s.dur - trace_start()) / 100000000 AS slot,
  SUM(s.end_state NOT IN ('R', 'R+')) AS voluntary,
  SUM(s.end_state IN ('R', 'R+')) AS involuntary,
  SUM(s.dur) AS ran
FROM sched s JOIN thread USING (utid)
WHERE thread.tid != 0 AND s.dur >= 0
GROUP BY s.utid, slot
HAVING voluntary >= 1000
ORDER BY s.utid, slot;

WITH
  -- Slots in a row have the same difference to their place among the thread's storms.
  numbered AS (SELECT *, slot - ROW_NUMBER() OVER (PARTITION BY utid ORDER BY slot) AS spell FROM _unjank_storm),
  spell AS (
    SELECT
      utid, trace_start() + MIN(slot) * 100000000 AS ts, COUNT() * 100000000 AS dur,
      SUM(voluntary) AS voluntary, SUM(involuntary) AS involuntary, SUM(ran) AS ran,
      MAX(voluntary) * 10 AS peak_per_s
    FROM numbered GROUP BY utid, spell
  ),
  ranked AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY utid ORDER BY dur DESC, voluntary DESC) AS place FROM spell),
  waker AS (
    SELECT utid, waker_utid, MAX(wakeups) AS wakeups FROM (
      SELECT utid, waker_utid, COUNT() AS wakeups FROM thread_state
      WHERE waker_utid IS NOT NULL AND utid IN (SELECT utid FROM _unjank_storm)
      GROUP BY utid, waker_utid
    ) GROUP BY utid
  )
SELECT
  r.utid, process.name AS process_name, thread.name AS thread_name, thread.tid,
  SUM(r.voluntary) AS count,
  SUM(r.involuntary) AS involuntary,
  SUM(r.dur) AS total_ns,
  SUM(r.ran) AS ran_ns,
  MAX(r.peak_per_s) AS peak_per_s,
  COUNT() AS spells,
  MAX(IIF(r.place = 1, r.ts, NULL)) AS ts,
  MAX(IIF(r.place = 1, r.dur, NULL)) AS dur,
  waker.waker_utid, waker.wakeups AS waker_wakeups
FROM ranked r
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
LEFT JOIN waker USING (utid)
GROUP BY r.utid
ORDER BY peak_per_s DESC;
