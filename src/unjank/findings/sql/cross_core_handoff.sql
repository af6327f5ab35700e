-- cross-core-handoff: pairs of threads that woke each other 100 times or more within 100 ms, each time from one
-- CPU to another: 1,000 hand-overs a second; a row for each pair. Latency is the time from the wake-up until the
-- woken thread ran.

INCLUDE PERFETTO MODULE unjank.handoff;

WITH
  slot AS (
    SELECT
      first_utid, second_utid, (ts - trace_start()) / 100000000 AS slot,
      SUM(cpu != waker_cpu) AS across
    FROM unjank_handoff GROUP BY 1, 2, 3
  ),
  busy AS (
    SELECT
      first_utid, second_utid, MAX(across) * 10 AS peak_per_s,
      SUM(across >= 100) * 100000000 AS busy_ns
    FROM slot GROUP BY 1, 2
    HAVING MAX(across) >= 100
  ),
  worst AS (
    SELECT
      *,
      ROW_NUMBER() OVER (PARTITION BY first_utid, second_utid ORDER BY (cpu != waker_cpu) DESC, latency DESC) AS place
    FROM unjank_handoff
  )
SELECT
  b.first_utid, b.second_utid, b.peak_per_s, b.busy_ns,
  COUNT() AS handoffs,
  SUM(h.cpu != h.waker_cpu) AS count,
  SUM(h.utid = b.first_utid AND h.cpu != h.waker_cpu) AS to_first,
  SUM(IIF(h.cpu != h.waker_cpu, h.latency, 0)) AS total_ns,
  CAST(AVG(IIF(h.cpu != h.waker_cpu, h.latency, NULL)) AS INT) AS across_mean_ns,
  CAST(AVG(IIF(h.cpu = h.waker_cpu, h.latency, NULL)) AS INT) AS same_core_mean_ns,
  MAX(IIF(h.place = 1, h.latency, NULL)) AS dur,
  MAX(IIF(h.place = 1, h.ts, NULL)) AS ts,
  MAX(IIF(h.place = 1, h.utid, NULL)) AS woken_utid,
  MAX(IIF(h.place = 1, h.waker_utid, NULL)) AS waker_utid
FROM busy b JOIN worst h USING (first_utid, second_utid)
GROUP BY b.first_utid, b.second_utid
ORDER BY b.peak_per_s DESC;
