-- queue-contention-startup: time that the main thread waited for the lock of its MessageQueue while its app
-- started; a row for each start and process. Waits are cut to the start.

INCLUDE PERFETTO MODULE android.startup.startups;

INCLUDE PERFETTO MODULE unjank.queue_contention;

SELECT
  c.upid, c.process_name, s.startup_id, p.startup_type, s.ts AS startup_ts, s.dur AS startup_ns,
  COUNT() AS count,
  SUM(MIN(s.ts + s.dur, c.ts + c.dur) - MAX(s.ts, c.ts)) AS total_ns,
  MAX(MIN(s.ts + s.dur, c.ts + c.dur) - MAX(s.ts, c.ts)) AS worst_ns
FROM android_startups s
JOIN android_startup_processes p USING (startup_id)
JOIN unjank_queue_contention c ON c.upid = p.upid AND c.ts < s.ts + s.dur AND c.ts + c.dur > s.ts
GROUP BY s.startup_id, c.upid
ORDER BY total_ns DESC;
