-- queue-delay: messages that Android's loopers ran late, as they told logcat when the message had run ("Slow
-- delivery took 265ms THREAD h=HANDLER c=CALLBACK m=WHAT"); a row for each thread. ts is about when the latest
-- message was due.

WITH
  late AS (
    SELECT
      ts, utid, 1000000 * CAST(REGEXP_EXTRACT(msg, 'Slow delivery took ([0-9]+)ms') AS INT) AS dur,
      REGEXP_EXTRACT(msg, ' h=([^ ]+) ') AS handler,
      REGEXP_EXTRACT(msg, ' c=([^ @]+)') AS callback,
      REGEXP_EXTRACT(msg, ' m=(-?[0-9]+)') AS what
    FROM (SELECT ts, utid, tag, SUBSTR(msg, 1, 4096) AS msg FROM android_logs)
    WHERE tag = 'Looper' AND msg GLOB 'Slow delivery took *'
  )
SELECT
  late.utid, process.name AS process_name, thread.name AS thread_name, thread.tid,
  COUNT() AS count,
  SUM(late.dur) AS total_ns,
  -- of the latest one: with one MAX, SQLite takes the other columns from its row
  MAX(late.dur) AS dur, late.ts - late.dur AS ts, late.handler,
  IIF(late.callback IN ('null', '<recycled'), '#' || late.what, late.callback) AS callback
FROM late
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
WHERE late.dur IS NOT NULL
GROUP BY late.utid
ORDER BY dur DESC;
