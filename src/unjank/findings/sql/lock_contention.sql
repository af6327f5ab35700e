-- lock-contention: waits for locks, a row for each process, lock and place where the owner took it.
-- Waits of main threads are apart. A lock without a name (Android) is the place where its owner took it.

INCLUDE PERFETTO MODULE unjank.contention;

SELECT
  process_name, is_main, lock, owner_site,
  COUNT() AS count,
  SUM(dur) AS total_ns,
  MAX(dur) AS worst_ns,
  SUM(is_open) AS unfinished,
  -- of the worst wait: of a row with MAX, SQLite takes the other columns from where the maximum was
  thread_name, tid, owner_name, owner_tid, site, ts
FROM unjank_contention
GROUP BY pid, is_main, lock, owner_site
ORDER BY worst_ns DESC;
