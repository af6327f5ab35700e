-- priority-inversion: waits whose owner could run but had no CPU, a row each. Who ran on that CPU meanwhile is
-- in the table sched. Without the kernel's scheduling the recorder's own counters (schedstat) are told.

INCLUDE PERFETTO MODULE unjank.owner_state;

WITH
  measured AS (
    SELECT
      id,
      SUM(IIF(state IN ('R', 'R+'), dur, 0)) AS held_off_ns,
      SUM(IIF(state = 'Running', dur, 0)) AS owner_ran_ns,
      SUM(IIF(state NOT IN ('R', 'R+', 'Running'), dur, 0)) AS owner_blocked_ns
    FROM unjank_owner_state GROUP BY id
  )
SELECT
  c.process_name, c.thread_name, c.tid, c.owner_name, c.owner_tid, c.lock, c.site, c.owner_site, c.ts, c.dur,
  COALESCE(m.held_off_ns, EXTRACT_ARG(s.arg_set_id, 'debug.owner_wait_ns')) AS held_off_ns,
  COALESCE(m.owner_ran_ns, EXTRACT_ARG(s.arg_set_id, 'debug.owner_run_ns')) AS owner_ran_ns,
  m.owner_blocked_ns,
  IIF(m.id IS NULL, 'schedstat', 'sched') AS source
FROM unjank_contention c
LEFT JOIN slice s USING (id)
LEFT JOIN measured m USING (id)
WHERE
  COALESCE(m.held_off_ns, EXTRACT_ARG(s.arg_set_id, 'debug.owner_wait_ns')) >= MAX(100000, 0.2 * c.dur)
ORDER BY held_off_ns DESC;
