-- unjank_contention: a row for each wait for a lock that another thread held, in all of ART's wordings and
-- those of unjank's recorder:
--
--   monitor contention with owner NAME (TID) at RET METHOD(ARGS)(FILE:LINE) waiters=N blocking from RET …
--
-- " (TID)" and " at …" may be missing. A wait that had not ended lasts as long as the trace. The owner is found
-- by its kernel id: of the recorder (debug.owner_tid), of ART's slice of the native mutex inside, or the one in
-- brackets if the thread with that id has the owner's name; else by its name, if only one thread has it.
-- Waits that only logcat tells are here too (is_logged): long ones and samples, to the millisecond.

CREATE OR REPLACE PERFETTO TABLE _unjank_monitor_slice AS
WITH native AS (
  SELECT parent_id, CAST(STR_SPLIT(MIN(name), 'owner tid: ', 1) AS INT) AS tid FROM slice
  WHERE name GLOB 'Lock contention on a monitor lock (owner tid: *' AND parent_id IS NOT NULL
  GROUP BY parent_id
)
SELECT
  s.id, s.ts, IIF(s.dur < 0, trace_end() - s.ts, s.dur) AS dur, s.dur < 0 AS is_open,
  thread.utid, thread.tid, thread.name AS thread_name, thread.is_main_thread = 1 AS is_main,
  process.pid, process.name AS process_name,
  -- "NAME (TID)" in front of the first " at " or " waiters="
  STR_SPLIT(STR_SPLIT(SUBSTR(s.name, LENGTH('monitor contention with owner ') + 1), ' at ', 0), ' waiters=', 0)
    AS owner,
  -- "RET METHOD(ARGS)(FILE:LINE)"; REGEXP_EXTRACT is NULL where there is none
  REGEXP_EXTRACT(STR_SPLIT(s.name, ' blocking from ', 0), ' at (.*[)]) waiters=') AS owner_site,
  STR_SPLIT(s.name, ' blocking from ', 1) AS site,
  CAST(STR_SPLIT(s.name, ' waiters=', 1) AS INT) AS waiters,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock') AS lock_name,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock_id') AS lock_id,
  EXTRACT_ARG(s.arg_set_id, 'debug.result') AS result,
  COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.owner_tid'), native.tid) AS known_tid
FROM (
  -- ART cuts names at 1,024 characters; one that is longer was not written by it, and costs time.
  SELECT id, ts, dur, track_id, arg_set_id, SUBSTR(name, 1, 4096) AS name FROM slice
  WHERE name GLOB 'monitor contention with owner *'
) s
JOIN thread_track ON s.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
LEFT JOIN native ON native.parent_id = s.id;

CREATE OR REPLACE PERFETTO TABLE _unjank_thread AS
SELECT thread.tid, process.pid, MAX(thread.name) AS name
FROM thread LEFT JOIN process USING (upid)
WHERE thread.tid > 0
GROUP BY thread.tid, process.pid;

-- What ART wrote to logcat about a wait, when it ended:
--
--   Long monitor contention with owner NAME (TID) at RET METHOD(ARGS)(FILE:LINE) waiters=N in METHOD for 140ms
--   Long monitor contention event with owner method=RET METHOD(ARGS) from FILE:LINE waiters=N for 3.914s
--   dvm_lock_sample: process="…" main=0 thread="…" time=140 file="…" line=337 ownerfile="…" ownerline=… …
--   dvm_lock_sample: [PROCESS,MAIN,THREAD,MS,FILE,LINE,…]
--
-- Perfetto names the fields as old versions of Android have them. Where `ownerfile` is a method, it is the
-- waiter's, `ownerline` the owner's file and `sample_percent` the owner's line.

CREATE OR REPLACE PERFETTO TABLE _unjank_logged AS
WITH
  entry AS (
    SELECT
      *, tag = 'dvm_lock_sample' AS is_sample,
      IIF(
        tag = 'dvm_lock_sample',
        1000000 * CAST(
          COALESCE(
            REGEXP_EXTRACT(msg, ' time=([0-9]+) '), REGEXP_EXTRACT(msg, '^[[][^,]*,[^,]*,[^,]*,([0-9]+),')
          ) AS INT
        ),
        CAST(
          ROUND(
            CAST(REGEXP_EXTRACT(msg, ' for ([0-9.]+)m?s$') AS FLOAT)
            * IIF(msg GLOB '*[0-9]ms', 1000000, 1000000000)
          ) AS INT
        )
      ) AS dur,
      REGEXP_EXTRACT(msg, ' file="([^"]+)"') AS file,
      REGEXP_EXTRACT(msg, ' ownerfile="([^"]+)"') AS owner_file,
      COALESCE(REGEXP_EXTRACT(msg, ' ownerline="([^"]+)"'), REGEXP_EXTRACT(msg, ' ownerline=([0-9-]+)'))
        AS owner_line,
      REGEXP_EXTRACT(msg, ' sample_percent=([0-9-]+)') AS percent
    FROM (SELECT id, ts, utid, tag, SUBSTR(msg, 1, 4096) AS msg FROM android_logs)
    WHERE tag = 'dvm_lock_sample' OR msg GLOB 'Long monitor contention *'
  ),
  placed AS (
    SELECT
      *,
      IIF(owner_file GLOB '*(*', owner_line, owner_file) AS owner_place,
      IIF(owner_file GLOB '*(*', percent, owner_line) AS owner_number
    FROM entry
  )
SELECT
  -1 - id AS id, ts - dur AS ts, dur, utid, is_sample, msg,
  CASE
    WHEN NOT is_sample THEN COALESCE(
      REGEXP_EXTRACT(msg, '[)] at (.*[)]) waiters='), REGEXP_EXTRACT(msg, ' owner method=(.*) waiters=')
    )
    WHEN owner_place = '-' THEN file || ':' || owner_number
    WHEN owner_place IS NOT NULL THEN owner_place || ':' || owner_number
  END AS owner_site,
  IIF(
    is_sample,
    IIF(owner_file GLOB '*(*', owner_file, '') || '(' || file || ':' || REGEXP_EXTRACT(msg, ' line=([0-9-]+)')
      || ')',
    REGEXP_EXTRACT(msg, ' waiters=[0-9]+ in (.*) for ')
  ) AS site
FROM placed
WHERE dur IS NOT NULL;

-- A wait may be told three times: as a slice (rank 0), as a text (1), as a sample (2). The best one counts. A table
-- of SQLite's own, since looking up a span of time for each of many waits is quicker there.
DROP TABLE IF EXISTS _unjank_telling;

CREATE TABLE _unjank_telling AS
SELECT utid, ts, dur, 0 AS rank FROM _unjank_monitor_slice
UNION ALL
SELECT utid, ts, dur, 1 FROM _unjank_logged WHERE NOT is_sample;

CREATE INDEX _unjank_telling_of_thread ON _unjank_telling(utid, ts);

CREATE OR REPLACE PERFETTO TABLE _unjank_logged_once AS
WITH longest AS MATERIALIZED (SELECT MAX(dur) AS dur FROM _unjank_telling)
SELECT l.* FROM _unjank_logged l
WHERE
  NOT EXISTS (
    SELECT 1 FROM _unjank_telling t
    WHERE
      t.utid = l.utid AND t.ts < l.ts + l.dur AND t.ts > l.ts - (SELECT dur FROM longest)
      AND t.rank <= l.is_sample
      AND MIN(t.ts + t.dur, l.ts + l.dur) - MAX(t.ts, l.ts) > 0.5 * MIN(t.dur, l.dur)
  );

CREATE OR REPLACE PERFETTO TABLE unjank_contention AS
WITH
  told AS (
    SELECT *, 0 AS is_logged FROM _unjank_monitor_slice
    UNION ALL
    SELECT
      l.id, l.ts, l.dur, 0, l.utid, thread.tid, thread.name, thread.is_main_thread = 1, process.pid, process.name,
      REGEXP_EXTRACT(l.msg, '^Long monitor contention with owner (.* [(][0-9]+[)]) at '),
      l.owner_site, l.site, CAST(STR_SPLIT(l.msg, ' waiters=', 1) AS INT), NULL, NULL, NULL,
      CAST(REGEXP_EXTRACT(l.msg, ' [(]([0-9]+)[)] at ') AS INT), 1
    FROM _unjank_logged_once l JOIN thread USING (utid) LEFT JOIN process USING (upid)
  ),
  named AS (
    SELECT
      *,
      COALESCE(REGEXP_EXTRACT(owner, '^(.*) [(][0-9]+[)]$'), owner) AS owner_name,
      CAST(REGEXP_EXTRACT(owner, ' [(]([0-9]+)[)]$') AS INT) AS bracketed_tid
    FROM told
  ),
  owner AS MATERIALIZED (SELECT DISTINCT pid, owner_name FROM named WHERE owner_name IS NOT NULL),
  -- The kernel keeps 15 characters of a name: its first, or of ART's names with dots the last.
  by_name AS MATERIALIZED (
    SELECT owner.pid, owner.owner_name, IIF(COUNT(DISTINCT t.tid) = 1, MIN(t.tid), NULL) AS tid
    FROM owner JOIN _unjank_thread t ON t.pid = owner.pid
    WHERE t.name IN (owner_name, SUBSTR(owner_name, -15), SUBSTR(owner_name, 1, 15))
    GROUP BY owner.pid, owner.owner_name
  ),
  bracketed AS MATERIALIZED (SELECT pid, tid, name FROM _unjank_thread)
SELECT
  named.*,
  COALESCE(known_tid, bracketed.tid, by_name.tid) AS owner_tid,
  COALESCE(lock_name, owner_site, site, named.owner_name) AS lock
FROM named
LEFT JOIN bracketed
  ON bracketed.pid = named.pid AND bracketed.tid = named.bracketed_tid AND bracketed.name = named.owner_name
LEFT JOIN by_name ON by_name.pid = named.pid AND by_name.owner_name = named.owner_name
ORDER BY named.ts;
