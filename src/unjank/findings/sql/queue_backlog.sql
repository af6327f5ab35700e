-- queue-backlog: how late the messages of each looper ran, by what ran; a row for each looper and callback.
-- delay_ns counts from the time a message was due. Who posted them: the slices 'post *' of category mq.

SELECT
  process.name AS process_name, thread.name AS thread_name, thread.tid,
  EXTRACT_ARG(s.arg_set_id, 'debug.looper') AS looper,
  EXTRACT_ARG(s.arg_set_id, 'debug.callback') AS callback,
  COUNT() AS count,
  SUM(EXTRACT_ARG(s.arg_set_id, 'debug.delay_ns')) AS total_delay_ns,
  MAX(EXTRACT_ARG(s.arg_set_id, 'debug.delay_ns')) AS worst_delay_ns,
  SUM(IIF(s.dur < 0, trace_end() - s.ts, s.dur)) AS total_run_ns,
  s.ts - EXTRACT_ARG(s.arg_set_id, 'debug.delay_ns') AS due_ts
FROM slice s
JOIN thread_track ON s.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
WHERE
  s.category = 'mq' AND s.name GLOB 'dispatch *'
  AND EXTRACT_ARG(s.arg_set_id, 'debug.delay_ns') > 0
GROUP BY thread.utid, looper, callback
ORDER BY worst_delay_ns DESC;
