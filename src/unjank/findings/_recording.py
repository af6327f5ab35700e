"""What unjank's recorder wrote about itself: sessions, dropped events, nice values of threads."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unjank.findings._processes import ProcessTable
from unjank.findings._queryable import Queryable

_SESSION_SQL = """
SELECT
  pt.upid, s.name,
  EXTRACT_ARG(s.arg_set_id, 'debug.sched') AS sched,
  EXTRACT_ARG(s.arg_set_id, 'debug.sched_reason') AS sched_reason,
  EXTRACT_ARG(s.arg_set_id, 'debug.exit') AS how
FROM slice s
JOIN process_track pt ON s.track_id = pt.id
WHERE s.name IN ('session', 'session end') AND s.category = 'unjank'
ORDER BY s.ts, s.id
"""

_DROPPED_SQL = """
SELECT tt.utid, SUM(EXTRACT_ARG(s.arg_set_id, 'debug.count')) AS dropped
FROM slice s JOIN thread_track tt ON s.track_id = tt.id
WHERE s.name = 'events dropped' AND s.category = 'unjank'
GROUP BY tt.utid
ORDER BY dropped DESC
"""

_NICE_SQL = """
SELECT tt.utid, s.ts, EXTRACT_ARG(s.arg_set_id, 'debug.nice') AS nice
FROM slice s JOIN thread_track tt ON s.track_id = tt.id
WHERE s.name = 'thread facts' AND s.category = 'unjank'
ORDER BY s.ts, s.id
"""


@dataclass(frozen=True)
class Recording:
    """One process that unjank recorded.

    Attributes:
        upid: Perfetto's id of the process.
        process: Its name.
        sched: How scheduling was recorded: `ftrace`, `procfs`, `off`.
        sched_reason: Why not better, None if nothing was said.
        ended: True if the recording was closed; False if the process died or still runs.
    """

    upid: int | None
    process: str
    sched: str | None
    sched_reason: str | None
    ended: bool


class NiceHistory:
    """Nice values of threads over time."""

    def __init__(self, changes: dict[int, list[tuple[int, int]]]) -> None:
        self._changes = changes

    def at(self, utids: Sequence[int], ts: int) -> int | None:
        """The nice value of a thread at `ts`, its first known one before that; None if never told."""
        changes = sorted(change for utid in utids for change in self._changes.get(utid, ()))
        if not changes:
            return None
        return changes[max(bisect_right(changes, ts, key=lambda change: change[0]) - 1, 0)][1]


def read_recordings(tp: Queryable, processes: ProcessTable) -> Iterator[Recording]:
    """Yields one record per recorded process."""
    rows = list(tp.query(_SESSION_SQL))
    ended = {row.upid for row in rows if row.name == "session end"}
    for row in rows:
        if row.name == "session":
            yield Recording(
                upid=row.upid,
                process=processes.name(row.upid) or "a process",
                sched=None if row.sched is None else str(row.sched),
                sched_reason=str(row.sched_reason) if row.sched_reason else None,
                ended=row.upid in ended,
            )


def read_dropped(tp: Queryable) -> dict[int, int]:
    """Number of lost events by thread (utid), most first."""
    return {row.utid: int(row.dropped) for row in tp.query(_DROPPED_SQL) if row.dropped}


def read_nice_history(tp: Queryable) -> NiceHistory:
    """Reads the nice values the recorder noted at threads' starts and changes."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in tp.query(_NICE_SQL):
        if isinstance(row.nice, int):
            changes[row.utid].append((row.ts, row.nice))
    return NiceHistory(changes)
