-- queue-contention-jank: time that main threads waited for the lock of their MessageQueue, in processes whose
-- frames the app itself made late; a row for each process. in_janky_frames_ns is the part within such frames.

INCLUDE PERFETTO MODULE android.frames.jank_type;

INCLUDE PERFETTO MODULE unjank.queue_contention;

-- A frame is begun before the one before it is shown: frames that overlap are one span here.
CREATE OR REPLACE PERFETTO TABLE _unjank_janky_span AS
WITH
  frame AS (
    SELECT
      upid, ts, ts + dur AS ts_end,
      MAX(ts + dur) OVER (PARTITION BY upid ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        AS before
    FROM actual_frame_timeline_slice
    WHERE dur > 0 AND android_is_app_jank_type(jank_type)
  ),
  numbered AS (
    SELECT
      *,
      SUM(before IS NULL OR ts > before) OVER (PARTITION BY upid ORDER BY ts ROWS UNBOUNDED PRECEDING) AS number
    FROM frame
  )
SELECT upid, MIN(ts) AS ts, MAX(ts_end) AS ts_end, COUNT() AS frames
FROM numbered
GROUP BY upid, number
ORDER BY ts;

CREATE OR REPLACE PERFETTO INDEX _unjank_janky_span_of_process ON _unjank_janky_span(upid, ts);

WITH
  wait AS (
    SELECT
      c.*,
      (
        SELECT SUM(MIN(j.ts_end, c.ts + c.dur) - MAX(j.ts, c.ts)) FROM _unjank_janky_span j
        WHERE j.upid = c.upid AND j.ts < c.ts + c.dur AND j.ts_end > c.ts
      ) AS within
    FROM unjank_queue_contention c
  ),
  janky AS (SELECT upid, SUM(frames) AS frames FROM _unjank_janky_span GROUP BY upid)
SELECT
  wait.upid, wait.process_name, janky.frames AS janky_frames,
  COUNT() AS count,
  SUM(wait.dur) AS total_ns,
  MAX(wait.dur) AS worst_ns,
  COUNT(wait.within) AS in_janky_frames,
  COALESCE(SUM(wait.within), 0) AS in_janky_frames_ns,
  COALESCE(MAX(wait.within), 0) AS worst_in_janky_frames_ns
FROM wait JOIN janky USING (upid)
GROUP BY wait.upid
ORDER BY total_ns DESC;
