"""Reads waits that are no contention but can block for good: for own locks, for other threads' ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unjank.findings._columns import bounds, number, text
from unjank.findings._contention import JOIN_TYPE, Contention
from unjank.findings._queryable import Queryable
from unjank.findings._slice_name import Site
from unjank.findings._threads import Thread, ThreadTable

_SQL = """
SELECT
  s.ts, s.dur, s.name, tt.utid,
  EXTRACT_ARG(s.arg_set_id, 'debug.object') AS object,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock_id') AS lock_id,
  EXTRACT_ARG(s.arg_set_id, 'debug.site') AS site,
  EXTRACT_ARG(s.arg_set_id, 'debug.result') AS result,
  EXTRACT_ARG(s.arg_set_id, 'debug.stack') AS stack
FROM slice s JOIN thread_track tt ON s.track_id = tt.id
WHERE s.name = '{name}' AND s.category = 'wait'
ORDER BY s.ts, s.id
"""


@dataclass(frozen=True, slots=True)
class SelfWait:
    """One wait for a lock that the waiter itself took: signalling, or a thread that waits for itself."""

    waiter: Thread
    start: int
    end: int
    is_open: bool
    lock: str | None
    lock_id: int | None
    site: Site | None
    result: str | None
    stack: str | None


def read_self_waits(tp: Queryable, threads: ThreadTable, trace_end: int) -> Iterator[SelfWait]:
    """Yields the waits on own locks, by start."""
    for row in tp.query(_SQL.format(name="wait Lock.acquire")):
        start, end = bounds(row, trace_end)
        yield SelfWait(
            waiter=threads[row.utid],
            start=start,
            end=end,
            is_open=row.dur < 0,
            lock=text(row.object),
            lock_id=number(row.lock_id),
            site=Site.parse(text(row.site) or ""),
            result=text(row.result),
            stack=text(row.stack),
        )


def read_joins(tp: Queryable, threads: ThreadTable, trace_end: int) -> Iterator[Contention]:
    """Yields the waits for the end of other threads, by start, with the other thread as the owner.

    A thread is known by its name there; waits for one whose name is not certain are left out.
    """
    for row in tp.query(_SQL.format(name="wait Thread.join")):
        waiter, name = threads[row.utid], text(row.object)
        owner = threads.named(waiter.upid, name, row.ts) if name else None
        if owner:
            yield _join(row, waiter, owner, trace_end)


def _join(row: Any, waiter: Thread, owner: Thread, trace_end: int) -> Contention:  # noqa: ANN401  the query's row
    start, end = bounds(row, trace_end)
    return Contention(
        waiter=waiter,
        owner=owner,
        owner_name=owner.name,
        start=start,
        end=end,
        is_open=row.dur < 0,
        waiter_site=Site.parse(text(row.site) or ""),
        owner_site=None,
        lock=f"the end of {owner.name}",
        lock_type=JOIN_TYPE,
        result=text(row.result),
        stack=text(row.stack),
    )
