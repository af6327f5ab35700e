-- deadlock-cycle: waits that lead from owner to owner back to the thread that closed the circle, a row for each
-- wait of a circle; `closed_by` is the slice of the wait that closed it. Waits for a thread's end count as waits
-- for a lock that this thread holds. A circle that came undone by itself was none: look at `result`.

INCLUDE PERFETTO MODULE unjank.contention;

WITH RECURSIVE
  -- MATERIALIZED, since each step of the recursion looks into it
  waits AS MATERIALIZED (
    SELECT id, ts, ts + dur AS ts_end, is_open, pid, tid, thread_name, owner_tid, owner_name, lock, site, result
    FROM unjank_contention WHERE owner_tid IS NOT NULL
    UNION ALL
    SELECT
      s.id, s.ts, IIF(s.dur < 0, trace_end(), s.ts + s.dur), s.dur < 0, process.pid, thread.tid, thread.name,
      other.tid, other.name, 'the end of ' || other.name, EXTRACT_ARG(s.arg_set_id, 'debug.site'),
      EXTRACT_ARG(s.arg_set_id, 'debug.result')
    FROM slice s
    JOIN thread_track ON s.track_id = thread_track.id
    JOIN thread USING (utid)
    JOIN process USING (upid)
    JOIN _unjank_thread other
      ON other.pid = process.pid AND other.name = EXTRACT_ARG(s.arg_set_id, 'debug.object')
    WHERE s.name = 'wait Thread.join' AND s.category = 'wait'
  ),
  path AS (
    SELECT
      id AS closed_by, 1 AS step, id, ts AS at, pid, tid AS first_tid, owner_tid, 0 AS is_closed
    FROM waits
    UNION ALL
    SELECT
      p.closed_by, p.step + 1, w.id, p.at, p.pid, p.first_tid, w.owner_tid, w.owner_tid = p.first_tid
    FROM path p JOIN waits w ON w.pid = p.pid AND w.tid = p.owner_tid
    WHERE
      NOT p.is_closed AND p.step < 32 AND w.tid != p.first_tid
      AND w.ts <= p.at AND (w.ts_end > p.at OR w.is_open)
  )
SELECT
  step.closed_by, step.step, w.thread_name, w.tid, w.lock, w.site, w.owner_name, w.owner_tid, w.ts,
  w.ts_end - w.ts AS dur, IIF(w.is_open, 'unfinished', w.result) AS result
FROM path step JOIN waits w USING (id)
WHERE step.closed_by IN (SELECT closed_by FROM path WHERE is_closed)
ORDER BY step.closed_by, step.step;
