"""The threads of a trace: names for people, and which of them a person is waiting for.

A trace may tell of one thread from two sides, the recorder and the kernel, and the engine may then count it
twice. Here it is one.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from unjank.findings._processes import ProcessTable
from unjank.findings._queryable import Queryable

_SQL = """
SELECT
  utid, tid, name, upid, is_main_thread AS is_main, start_ts, end_ts
FROM thread
ORDER BY COALESCE(start_ts, -1), utid
"""
# Threads that draw or answer a person although they are not the process's first thread.
_INTERACTIVE_NAME = re.compile(r"RenderThread|.*\b(ui|gui|main)\b.*", re.IGNORECASE)
_COMM_LENGTH = 15  # the kernel keeps 15 characters; ART keeps the last ones of a name with dots


@dataclass(frozen=True)
class Thread:
    """One thread.

    Attributes:
        utid: The engine's id, unique in the trace although the kernel uses thread ids again.
        utids: All of its ids; more than one if the engine counts it more than once.
        tid: Kernel thread id.
        name: Name, `thread TID` if it has none.
        upid: The engine's id of its process, None if unknown.
        process: Name of its process, None if unknown.
        is_main: True for the first thread of its process.
        born, died: Its lifetime on the trace's clock, infinite where the trace does not tell.
    """

    utid: int
    utids: tuple[int, ...]
    tid: int | None
    name: str
    upid: int | None
    process: str | None
    is_main: bool
    born: float
    died: float

    @property
    def is_interactive(self) -> bool:
        """True if a person waits while it waits: main thread, RenderThread, a name with `ui` or `main`."""
        return self.is_main or _INTERACTIVE_NAME.fullmatch(self.name) is not None


class ThreadTable:
    """All threads of a trace, by id, and by the name and process that ART writes into slices."""

    def __init__(self, tp: Queryable, processes: ProcessTable) -> None:
        self._threads = [_thread(rows, processes) for rows in _same_threads(tp.query(_SQL), processes)]
        self._by_utid = {utid: thread for thread in self for utid in thread.utids}

    def __getitem__(self, utid: int) -> Thread:
        return self._by_utid[utid]

    def __iter__(self) -> Iterator[Thread]:
        return iter(self._threads)

    def with_tid(self, upid: int | None, tid: int | None, ts: int) -> Thread | None:
        """The thread that had a kernel id in a process at `ts`; None if that is not certain."""
        return _only_alive(self._by_tid.get((upid, tid), ()), ts) if tid is not None else None

    def named(self, upid: int | None, name: str, ts: int) -> Thread | None:
        """The thread at `ts` whose name in the kernel comes from `name`; None if that is not certain."""
        for short in (name, name[-_COMM_LENGTH:], name[:_COMM_LENGTH]):
            if found := self._by_name.get((upid, short)):
                return _only_alive(found, ts)
        return None

    @cached_property
    def _by_tid(self) -> dict[Hashable, list[Thread]]:
        return _grouped(((thread.upid, thread.tid), thread) for thread in self)

    @cached_property
    def _by_name(self) -> dict[Hashable, list[Thread]]:
        return _grouped(((thread.upid, thread.name), thread) for thread in self)


def _same_threads(rows: Iterable[Any], processes: ProcessTable) -> Iterator[list[Any]]:
    """Puts rows together that are one thread; `rows` come by start.

    A row without a start is the recorder's: it goes with all of the kernel's rows of that id, since no one
    can tell with which. Rows with starts alone are threads that had the id one after the other.
    """
    by_ids: dict[Hashable, list[Any]] = defaultdict(list)
    for row in rows:
        # Idle threads all have id 0, one for each CPU.
        ids = (processes.canonical(row.upid), row.tid) if row.tid and row.upid is not None else row.utid
        by_ids[ids].append(row)
    for same in by_ids.values():
        yield from ([same] if same[0].start_ts is None else ([row] for row in same))


def _thread(rows: list[Any], processes: ProcessTable) -> Thread:
    """One thread from its rows; the first that has a name counts, since the recorder's come first."""
    best = max(rows, key=lambda row: bool(row.name))
    return Thread(
        utid=rows[0].utid,
        utids=tuple(row.utid for row in rows),
        tid=best.tid,
        name=best.name or f"thread {best.tid}",
        upid=processes.canonical(best.upid),
        process=processes.name(best.upid),
        is_main=any(row.is_main for row in rows),
        born=min(row.start_ts or -inf for row in rows),
        died=max(row.end_ts or inf for row in rows),
    )


def _grouped(keyed: Iterable[tuple[Hashable, Thread]]) -> dict[Hashable, list[Thread]]:
    groups: dict[Hashable, list[Thread]] = defaultdict(list)
    for key, thread in keyed:
        groups[key].append(thread)
    return groups


def _only_alive(threads: Iterable[Thread], ts: int) -> Thread | None:
    alive = [thread for thread in threads if thread.born <= ts <= thread.died]
    # The kernel gives an id out again only when its thread is gone, even if the trace does not tell when.
    latest = {thread.tid: thread for thread in sorted(alive, key=lambda thread: thread.born)}
    return next(iter(latest.values())) if len(latest) == 1 else None
