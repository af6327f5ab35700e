"""Reads the contended locks of a trace, ART's and those of unjank's recorder."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from unjank.findings._columns import bounds, number, text
from unjank.findings._queryable import Queryable
from unjank.findings._slice_name import MonitorName, Site, parse_monitor_name
from unjank.findings._threads import Thread, ThreadTable

# ART puts a slice of the native mutex inside the monitor's: it tells the owner's kernel thread id.
_CONTENTION_SQL = """
WITH native AS (
  SELECT parent_id, MIN(name) AS name FROM slice
  WHERE name GLOB 'Lock contention on a monitor lock (owner tid: *' AND parent_id IS NOT NULL
  GROUP BY parent_id
)
SELECT
  s.id, s.ts, s.dur, s.name, tt.utid, native.name AS native_name,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock') AS lock_name,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock_id') AS lock_id,
  EXTRACT_ARG(s.arg_set_id, 'debug.lock_type') AS lock_type,
  EXTRACT_ARG(s.arg_set_id, 'debug.owner_tid') AS owner_tid,
  EXTRACT_ARG(s.arg_set_id, 'debug.result') AS result,
  EXTRACT_ARG(s.arg_set_id, 'debug.stack') AS stack,
  EXTRACT_ARG(s.arg_set_id, 'debug.waiter_path') AS waiter_path,
  EXTRACT_ARG(s.arg_set_id, 'debug.owner_path') AS owner_path,
  EXTRACT_ARG(s.arg_set_id, 'debug.gil_ns') AS gil_ns,
  EXTRACT_ARG(s.arg_set_id, 'debug.owner_run_ns') AS owner_run_ns,
  EXTRACT_ARG(s.arg_set_id, 'debug.owner_wait_ns') AS owner_wait_ns,
  EXTRACT_ARG(s.arg_set_id, 'debug.owner_nice') AS owner_nice
FROM slice s
JOIN thread_track tt ON s.track_id = tt.id
LEFT JOIN native ON native.parent_id = s.id
WHERE s.name GLOB 'monitor contention with owner *'
ORDER BY s.ts, s.id
"""
JOIN_TYPE = "Thread"


@dataclass(frozen=True, slots=True)
class Contention:
    """One wait for a lock that another thread held.

    Attributes:
        waiter: Thread that waited.
        owner: Thread that held the lock when the wait began, None if it could not be found.
        owner_name: Its name as the slice has it.
        start, end: Bounds on the trace's clock, ns; an unfinished wait ends with the trace.
        is_open: True if the wait had not ended when the trace did.
        lock: Name of the lock, None where the recorder does not know it (Android).
        lock_id: Number unique to the lock object, None if unknown.
        lock_type: `Lock`, `RLock`, or `Thread` for a wait for the owner's end, which holds up as a lock does.
        result: `acquired`, `timeout`, `interrupted`; None if unknown or open.
        gil_ns: Time to get the interpreter's lock back after the wait, part of it.
        owner_run_ns, owner_wait_ns: CPU time and run-queue wait of the owner during the wait, from
            schedstat; None without.
        owner_nice: The owner's nice value, from the same place.
        is_logged: True if logcat alone tells of it: to the millisecond, and only of long or sampled waits.
    """

    waiter: Thread
    owner: Thread | None
    owner_name: str
    start: int
    end: int
    is_open: bool
    waiter_site: Site | None
    owner_site: Site | None
    waiters: int | None = None
    lock: str | None = None
    lock_id: int | None = None
    lock_type: str | None = None
    result: str | None = None
    stack: str | None = None
    waiter_path: str | None = None
    owner_path: str | None = None
    gil_ns: int | None = None
    owner_run_ns: int | None = None
    owner_wait_ns: int | None = None
    owner_nice: int | None = None
    is_logged: bool = False

    @property
    def dur(self) -> int:
        """Length of the wait, ns."""
        return self.end - self.start

    @property
    def lock_label(self) -> str:
        """The lock's name, or what is known instead: where its owner took it, where the waiter blocked."""
        if self.lock:
            return self.lock
        if self.owner_site:
            return f"the monitor taken in {self.owner_site}"
        return f"the monitor wanted in {self.waiter_site}" if self.waiter_site else "a monitor"

    @property
    def is_join(self) -> bool:
        """True for a wait for the owner's end instead of a lock."""
        return self.lock_type == JOIN_TYPE

    def overlap(self, other: "Contention") -> int:
        """Time both waits lasted at once, ns; 0 or below if they did not."""
        return min(self.end, other.end) - max(self.start, other.start)


def read_contentions(tp: Queryable, threads: ThreadTable, trace_end: int) -> Iterator[Contention]:
    """Yields the lock contention slices of a trace, by start."""
    parse = lru_cache(maxsize=65536)(parse_monitor_name)
    for row in tp.query(_CONTENTION_SQL):
        waiter = threads[row.utid]
        name = parse(row.name)
        owner = _find_owner(row, waiter, name, threads)
        yield _contention(row, waiter, owner, name, trace_end)


def _contention(
    row: Any,  # noqa: ANN401  a row's columns are those of the query
    waiter: Thread,
    owner: Thread | None,
    name: MonitorName,
    trace_end: int,
) -> Contention:
    start, end = bounds(row, trace_end)
    return Contention(
        waiter=waiter,
        owner=owner,
        owner_name=name.owner,
        start=start,
        end=end,
        is_open=row.dur < 0,
        waiter_site=name.waiter_site,
        owner_site=name.owner_site,
        waiters=name.waiters,
        lock=text(row.lock_name),
        lock_id=number(row.lock_id),
        lock_type=text(row.lock_type),
        result=text(row.result),
        stack=text(row.stack),
        waiter_path=text(row.waiter_path),
        owner_path=text(row.owner_path),
        gil_ns=number(row.gil_ns),
        owner_run_ns=number(row.owner_run_ns),
        owner_wait_ns=number(row.owner_wait_ns),
        owner_nice=number(row.owner_nice),
    )


def _find_owner(
    row: Any,  # noqa: ANN401  a row's columns are those of the query
    waiter: Thread,
    name: MonitorName,
    threads: ThreadTable,
) -> Thread | None:
    """Finds the owner's thread: by kernel thread id where there is one, by name otherwise."""
    tid = number(row.owner_tid)
    if tid is None and row.native_name:
        tid = _native_owner_tid(row.native_name)
    if found := threads.with_tid(waiter.upid, tid, row.ts):
        return found
    # Newer ART writes the kernel's id in brackets, older its own: the name tells which it is.
    bracketed = threads.with_tid(waiter.upid, name.owner_tid, row.ts)
    if bracketed and bracketed.name == name.owner:
        return bracketed
    return threads.named(waiter.upid, name.owner, row.ts)


def _native_owner_tid(name: str) -> int | None:
    digits = name.rpartition("owner tid: ")[2].rstrip(")")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None
