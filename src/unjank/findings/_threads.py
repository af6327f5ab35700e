"""The threads of a trace: names for people, and which of them a person is waiting for."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

_SQL = """
SELECT t.utid, t.tid, t.name, t.upid, t.is_main_thread AS is_main, p.pid, p.name AS process
FROM thread t LEFT JOIN process p USING (upid)
"""
# Threads that draw or answer a person although they are not the process's first thread.
_INTERACTIVE_NAME = re.compile(r"RenderThread|.*\b(ui|gui|main)\b.*", re.IGNORECASE)
_COMM_LENGTH = 15  # the kernel keeps 15 characters; ART keeps the last ones of a name with dots


_K = TypeVar("_K")


class Queryable(Protocol):
    """What findings need of a trace processor."""

    def query(self, sql: str) -> Iterable[Any]:
        """Runs SQL; each row has its columns as attributes."""


@dataclass(frozen=True)
class Thread:
    """One thread.

    Attributes:
        utid: Perfetto's id, unique in the trace although the kernel uses thread ids again.
        tid: Kernel thread id.
        name: Name, `thread TID` if it has none.
        upid: Perfetto's id of its process, None if unknown.
        process: Name of its process, None if unknown.
        is_main: True for the first thread of its process.
    """

    utid: int
    tid: int | None
    name: str
    upid: int | None
    process: str | None
    is_main: bool

    @property
    def is_interactive(self) -> bool:
        """True if a person waits while it waits: main thread, RenderThread, a name with `ui` or `main`."""
        return self.is_main or _INTERACTIVE_NAME.fullmatch(self.name) is not None


class ThreadTable:
    """All threads of a trace, by id, and by the name and process that ART writes into slices."""

    def __init__(self, tp: Queryable) -> None:
        self._by_utid = {row.utid: _thread(row) for row in tp.query(_SQL)}

    def __getitem__(self, utid: int) -> Thread:
        return self._by_utid[utid]

    def __iter__(self) -> Iterator[Thread]:
        return iter(self._by_utid.values())

    def with_tid(self, upid: int | None, tid: int | None) -> Thread | None:
        """The thread of that kernel id in a process; None if there is none or more than one."""
        return _only(self._by_tid.get((upid, tid), [])) if tid is not None else None

    def named(self, upid: int | None, name: str) -> Thread | None:
        """The thread whose name in the kernel comes from `name`; None if that is not certain."""
        for short in (name, name[-_COMM_LENGTH:], name[:_COMM_LENGTH]):
            if found := self._by_name.get((upid, short)):
                return _only(found)
        return None

    @cached_property
    def _by_tid(self) -> dict[tuple[int | None, int | None], list[Thread]]:
        return _grouped((thread.upid, thread.tid, thread) for thread in self)

    @cached_property
    def _by_name(self) -> dict[tuple[int | None, str], list[Thread]]:
        return _grouped((thread.upid, thread.name, thread) for thread in self)


def _thread(row: Any) -> Thread:  # noqa: ANN401  a row's columns are those of the query
    process = row.process or (None if row.pid is None else f"process {row.pid}")
    name = row.name or f"thread {row.tid}"
    return Thread(row.utid, row.tid, name, row.upid, process, bool(row.is_main))


def _grouped(keyed: Iterable[tuple[int | None, _K, Thread]]) -> dict[tuple[int | None, _K], list[Thread]]:
    groups: dict[tuple[int | None, _K], list[Thread]] = defaultdict(list)
    for upid, key, thread in keyed:
        groups[upid, key].append(thread)
    return groups


def _only(threads: list[Thread]) -> Thread | None:
    return threads[0] if len(threads) == 1 else None
