-- updater-hotspot: time in methods of AtomicReferenceFieldUpdater, AtomicIntegerFieldUpdater and
-- AtomicLongFieldUpdater, by caller, from ART method traces; a row for each thread and caller. What an updater
-- calls counts as its time; check_ns is the part within its checks by reflection. traced_ns is the time the
-- thread was traced.

CREATE OR REPLACE PERFETTO TABLE _unjank_updater_call AS
SELECT
  s.id, s.ts, IIF(s.dur < 0, trace_end() - s.ts, s.dur) AS dur, s.track_id, s.name AS method,
  caller.name AS caller
FROM slice s LEFT JOIN slice caller ON s.parent_id = caller.id
WHERE
  s.name GLOB 'java.util.concurrent.atomic.Atomic*FieldUpdater*'
  AND (caller.name IS NULL OR caller.name NOT GLOB 'java.util.concurrent.atomic.Atomic*FieldUpdater*');

WITH
  traced AS (
    SELECT track_id, SUM(IIF(dur < 0, trace_end() - ts, dur)) AS traced_ns FROM slice
    WHERE depth = 0 AND track_id IN (SELECT track_id FROM _unjank_updater_call)
    GROUP BY track_id
  ),
  -- The outermost check below each call, so that none counts twice.
  inside AS (
    SELECT c.id, SUM(IIF(check_.dur < 0, trace_end() - check_.ts, check_.dur)) AS check_ns
    FROM _unjank_updater_call c
    JOIN slice check_ ON check_.parent_id = c.id
    WHERE check_.name GLOB '*accessCheck*' OR check_.name GLOB '*valueCheck*' OR check_.name GLOB 'java.lang.Class.*'
      OR check_.name GLOB '*throwAccessCheckException*'
    GROUP BY c.id
  )
SELECT
  process.name AS process_name, thread.upid, thread.utid, thread.name AS thread_name, thread.tid, c.caller,
  COUNT() AS count,
  SUM(c.dur) AS total_ns,
  MAX(c.dur) AS worst_ns,
  COALESCE(SUM(inside.check_ns), 0) AS check_ns,
  traced.traced_ns,
  -- of the longest call: with one MAX, SQLite takes the other columns from its row
  c.method, c.ts
FROM _unjank_updater_call c
JOIN thread_track ON c.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
JOIN traced ON traced.track_id = c.track_id
LEFT JOIN inside USING (id)
GROUP BY thread.utid, c.caller
ORDER BY total_ns DESC;
