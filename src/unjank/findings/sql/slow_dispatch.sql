-- slow-dispatch: messages of Android's loopers that took 16 ms or longer to run, by thread and kind of message.
-- While one runs, those behind it wait. runs and run_ns are of all such messages, quick ones too.

INCLUDE PERFETTO MODULE unjank.dispatch;

SELECT
  d.utid, process.name AS process_name, thread.name AS thread_name, thread.tid, d.handler, d.callback,
  SUM(d.dur >= 16000000) AS count,
  SUM(IIF(d.dur >= 16000000, d.dur, 0)) AS total_ns,
  COUNT() AS runs,
  SUM(d.dur) AS run_ns,
  SUM(d.is_logged) AS logged,
  -- of the longest one: with one MAX, SQLite takes the other columns from its row
  MAX(d.dur) AS dur, d.ts
FROM unjank_dispatch d
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
GROUP BY d.utid, d.handler, d.callback
HAVING MAX(d.dur) >= 16000000
ORDER BY dur DESC;
