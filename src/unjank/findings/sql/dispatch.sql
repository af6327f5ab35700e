-- unjank_dispatch: messages that Android's loopers ran, a row each: the slices of Handler (atrace category view and
-- others: "HANDLER: CALLBACK" or "HANDLER: #WHAT"), those of Chrome ("Looper.dispatch: HANDLER(CALLBACK)"), and
-- what a looper wrote to logcat ("Slow dispatch took 733ms THREAD h=HANDLER c=CALLBACK m=WHAT"), which it did when
-- the message had run. A message that is told twice counts once, as the slice. One that has no end is left out: it
-- may be the native loop that runs inside a thread's first message for good.

CREATE OR REPLACE PERFETTO TABLE _unjank_dispatch_slice AS
SELECT
  s.ts, s.dur, thread_track.utid,
  IIF(
    s.name GLOB 'Looper.dispatch: *',
    REGEXP_EXTRACT(s.name, '^Looper[.]dispatch: ([^(]+)[(]'),
    STR_SPLIT(s.name, ': ', 0)
  ) AS handler,
  IIF(
    s.name GLOB 'Looper.dispatch: *',
    REGEXP_EXTRACT(s.name, '[(]([^@)]+)'),
    STR_SPLIT(s.name, ': ', 1)
  ) AS callback
FROM (
  SELECT ts, dur, track_id, SUBSTR(name, 1, 4096) AS name FROM slice
  WHERE depth = 0 AND dur >= 0 AND name GLOB '*.*: *'
) s
JOIN thread_track ON s.track_id = thread_track.id
WHERE
  (
    s.name GLOB 'Looper.dispatch: *'
    OR REGEXP_EXTRACT(s.name, '^[A-Za-z_][A-Za-z0-9_$]*([.][A-Za-z0-9_$]+)+: [^ ()]+$') IS NOT NULL
  );

CREATE OR REPLACE PERFETTO INDEX _unjank_dispatch_slice_of_thread ON _unjank_dispatch_slice(utid, ts);

CREATE OR REPLACE PERFETTO TABLE unjank_dispatch AS
WITH
  logged AS (
    SELECT
      ts, utid, 1000000 * CAST(REGEXP_EXTRACT(msg, 'Slow dispatch took ([0-9]+)ms') AS INT) AS dur,
      REGEXP_EXTRACT(msg, ' h=([^ ]+) ') AS handler,
      REGEXP_EXTRACT(msg, ' c=([^ @]+)') AS callback,
      REGEXP_EXTRACT(msg, ' m=(-?[0-9]+)') AS what
    FROM (SELECT ts, utid, tag, SUBSTR(msg, 1, 4096) AS msg FROM android_logs)
    WHERE tag = 'Looper' AND msg GLOB 'Slow dispatch took *'
  )
SELECT ts, dur, utid, handler, callback, 0 AS is_logged FROM _unjank_dispatch_slice
UNION ALL
SELECT l.ts - l.dur, l.dur, l.utid, l.handler, IIF(l.callback IN ('null', '<recycled'), '#' || l.what, l.callback), 1
FROM logged l
WHERE NOT EXISTS (
  SELECT 1 FROM _unjank_dispatch_slice s
  WHERE s.utid = l.utid AND s.ts < l.ts AND MIN(s.ts + s.dur, l.ts) - MAX(s.ts, l.ts - l.dur) > 0.5 * MIN(s.dur, l.dur)
);
