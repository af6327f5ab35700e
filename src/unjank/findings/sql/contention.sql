-- unjank_contention: a row for each wait for a lock that another thread held, in all of ART's wordings and
-- those of unjank's recorder:
--
--   monitor contention with owner NAME (TID) at RET METHOD(ARGS)(FILE:LINE) waiters=N blocking from RET …
--
-- " (TID)" and " at …" may be missing. A wait that had not ended lasts as long as the trace. The owner is found
-- by its kernel id: of the recorder (debug.owner_tid), of ART's slice of the native mutex inside, or the one in
-- brackets if the thread with that id has the owner's name; else by its name, if only one thread has it.

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
FROM slice s
JOIN thread_track ON s.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
LEFT JOIN native ON native.parent_id = s.id
WHERE s.name GLOB 'monitor contention with owner *';

CREATE OR REPLACE PERFETTO TABLE _unjank_thread AS
SELECT thread.tid, process.pid, MAX(thread.name) AS name
FROM thread LEFT JOIN process USING (upid)
WHERE thread.tid > 0
GROUP BY thread.tid, process.pid;

CREATE OR REPLACE PERFETTO TABLE unjank_contention AS
WITH
  named AS (
    SELECT
      *,
      COALESCE(REGEXP_EXTRACT(owner, '^(.*) [(][0-9]+[)]$'), owner) AS owner_name,
      CAST(REGEXP_EXTRACT(owner, ' [(]([0-9]+)[)]$') AS INT) AS bracketed_tid
    FROM _unjank_monitor_slice
  ),
  -- The kernel keeps 15 characters of a name: its first, or of ART's names with dots the last.
  by_name AS (
    SELECT named.id, IIF(COUNT(DISTINCT t.tid) = 1, MIN(t.tid), NULL) AS tid
    FROM named JOIN _unjank_thread t ON t.pid = named.pid
    WHERE t.name IN (owner_name, SUBSTR(owner_name, -15), SUBSTR(owner_name, 1, 15))
    GROUP BY named.id
  )
SELECT
  named.*,
  COALESCE(known_tid, bracketed.tid, by_name.tid) AS owner_tid,
  COALESCE(lock_name, owner_site, site, owner_name) AS lock
FROM named
LEFT JOIN _unjank_thread bracketed
  ON bracketed.pid = named.pid AND bracketed.tid = named.bracketed_tid AND bracketed.name = named.owner_name
LEFT JOIN by_name USING (id)
ORDER BY named.ts;
