"""What the rules judge: a trace's threads, waits, scheduling and recorder facts, each read on first use."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unjank.findings._contention import Contention, read_contentions
from unjank.findings._logcat import read_logged
from unjank.findings._processes import ProcessTable
from unjank.findings._queryable import Queryable
from unjank.findings._recording import NiceHistory, Recording, read_nice_history, read_recordings
from unjank.findings._scheduling import PRIORITY_OF_NICE_0, Scheduling
from unjank.findings._sql import modules_of
from unjank.findings._threads import Thread, ThreadTable
from unjank.findings._waits import SelfWait, read_joins, read_self_waits

_LONGEST_CHAIN = 32
_SMALLEST_LINK = 0.1  # of a wait; an owner that was blocked for less does not explain it


@dataclass(frozen=True)
class Bounds:
    """First and last time stamp of a trace, ns."""

    start: int
    end: int

    @property
    def dur(self) -> int:
        """Length of the trace, ns."""
        return self.end - self.start


class Evidence:
    """One trace, as the rules see it.

    Args:
        tp: The trace; used from the calling thread only.

    Attributes:
        elsewhere: Of processes that the trace was not recorded for, how often `concerns()` was asked.
    """

    def __init__(self, tp: Queryable) -> None:
        self.tp = tp
        self.elsewhere: Counter[str] = Counter()
        self._modules_run: set[str] = set()

    @cached_property
    def bounds(self) -> Bounds:
        """First and last time stamp of the trace."""
        (row,) = self.tp.query("SELECT trace_start() AS start, trace_end() AS finish")
        return Bounds(row.start or 0, row.finish or 0)

    @cached_property
    def threads(self) -> ThreadTable:
        """All threads."""
        return ThreadTable(self.tp, self.processes)

    @cached_property
    def processes(self) -> ProcessTable:
        """All processes."""
        return ProcessTable(self.tp)

    @cached_property
    def contentions(self) -> tuple[Contention, ...]:
        """All waits for locks that other threads held, by start."""
        slices = tuple(read_contentions(self.tp, self.threads, self.bounds.end))
        logged = read_logged(self.tp, self.threads, slices)
        return tuple(sorted((*slices, *logged), key=lambda wait: wait.start))

    @cached_property
    def self_waits(self) -> tuple[SelfWait, ...]:
        """All waits for locks that the waiter itself held, by start."""
        return tuple(read_self_waits(self.tp, self.threads, self.bounds.end))

    @cached_property
    def joins(self) -> tuple[Contention, ...]:
        """All waits for the end of another thread, by start."""
        return tuple(read_joins(self.tp, self.threads, self.bounds.end))

    @cached_property
    def scheduling(self) -> Scheduling:
        """The kernel's scheduling, empty where it was not recorded."""
        return Scheduling(self.tp, self.bounds.end)

    @cached_property
    def recordings(self) -> tuple[Recording, ...]:
        """What unjank's recorder said of itself; empty for other traces."""
        return tuple(read_recordings(self.tp, self.processes))

    def concerns(self, *threads: Thread | None) -> bool:
        """Whether what these threads do belongs in a report on the trace.

        The kernel's scheduling shows the whole machine. In a recording of programs it belongs there if one of
        the threads is theirs, or of a process that they started.
        """
        if not self._recorded or any(
            thread is not None and self.processes.descends(thread.upid, self._recorded) for thread in threads
        ):
            return True
        self.elsewhere.update({thread.process or "a process" for thread in threads if thread is not None})
        return False

    @cached_property
    def _recorded(self) -> frozenset[int]:
        canonical = (self.processes.canonical(each.upid) for each in self.recordings)
        return frozenset(upid for upid in canonical if upid is not None)

    def rows(self, kind: str) -> Iterable[Any]:
        """The rows of a kind's SQL; of the modules that kinds share, each runs once."""
        *shared, last = modules_of(kind).items()
        for name, sql in shared:
            if name not in self._modules_run:
                self._modules_run.add(name)
                for _ in self.tp.query(sql):
                    pass
        return self.tp.query(last[1])

    def was_cut_off(self, upid: int | None) -> bool:
        """True if a process was recorded until it died: its last events are the last that it wrote."""
        cut_off = {self.processes.canonical(each.upid) for each in self.recordings if not each.ended}
        return upid in cut_off

    def waits_of(self, thread: Thread) -> list[Contention]:
        """The waits of one thread for locks and for other threads' ends, by start."""
        return self._by_waiter.get(thread.utid, [])

    def wait_at(self, thread: Thread, ts: int) -> Contention | None:
        """The wait a thread is in at `ts`; None if it was not waiting for a lock or another's end."""
        waits = self.waits_of(thread)
        at = bisect_right(waits, ts, key=lambda wait: wait.start) - 1
        return waits[at] if at >= 0 and (waits[at].end > ts or waits[at].is_open) else None

    def chain(self, wait: Contention) -> list[Contention]:
        """Who blocks the blocker: the waits of the owner, the owner's owner and so on during `wait`.

        Of several waits of an owner within `wait` the one that covers most of it counts, if that is a
        tenth at least. Starts after `wait` itself and stops before a thread appears twice.
        """
        links: list[Contention] = []
        seen = {wait.waiter.utid}
        last = wait
        while last.owner and last.owner.utid not in seen and len(links) < _LONGEST_CHAIN:
            seen.add(last.owner.utid)
            covering = self._covering(last.owner, last)
            if covering is None:
                break
            links.append(covering)
            last = covering
        return links

    def waiting_behind(self, wait: Contention) -> Iterator[Contention]:
        """The waits that `wait` holds up: for locks of its waiter, directly or through others."""
        queue, seen = [wait], {wait.waiter.utid}
        while queue:
            blocked = queue.pop()
            for other in self._held_up_by(blocked.waiter, wait):
                if other.waiter.utid not in seen:
                    seen.add(other.waiter.utid)
                    queue.append(other)
                    yield other

    def priority(self, thread: Thread, ts: int) -> int | None:
        """A thread's priority at `ts` as the kernel numbers it (smaller is more urgent), None if unknown.

        From scheduling, else 120 + nice from the recorder's facts.
        """
        found = self.scheduling.priority(thread.utids, ts)
        if found is not None:
            return found
        nice = self._nice.at(thread.utids, ts)
        return None if nice is None else PRIORITY_OF_NICE_0 + nice

    def _covering(self, owner: Thread, wait: Contention) -> Contention | None:
        waits = self.waits_of(owner)
        # A thread waits for one lock at a time, so its waits do not overlap: a slice of them is enough.
        first = max(bisect_right(waits, wait.start, key=lambda w: w.start) - 1, 0)
        last = bisect_right(waits, wait.end, key=lambda w: w.start)
        best = max(waits[first:last], key=wait.overlap, default=None)
        return best if best and wait.overlap(best) > _SMALLEST_LINK * wait.dur else None

    def _held_up_by(self, owner: Thread, during: Contention) -> list[Contention]:
        """The waits for locks of `owner` that overlap a wait."""
        waits = self._by_owner.get(owner.utid, [])
        reach = self._longest_by_owner.get(owner.utid, 0)
        first = bisect_left(waits, during.start - reach, key=lambda w: w.start)
        last = bisect_left(waits, during.end, key=lambda w: w.start)
        return [wait for wait in waits[first:last] if wait.overlap(during) > 0]

    @cached_property
    def _nice(self) -> NiceHistory:
        return read_nice_history(self.tp)

    @cached_property
    def _by_waiter(self) -> dict[int, list[Contention]]:
        waits: dict[int, list[Contention]] = defaultdict(list)
        for wait in sorted((*self.contentions, *self.joins), key=lambda wait: wait.start):
            waits[wait.waiter.utid].append(wait)
        return waits

    @cached_property
    def _by_owner(self) -> dict[int, list[Contention]]:
        waits: dict[int, list[Contention]] = defaultdict(list)
        for wait in self.contentions:
            if wait.owner:
                waits[wait.owner.utid].append(wait)
        return waits

    @cached_property
    def _longest_by_owner(self) -> dict[int, int]:
        return {utid: max(wait.dur for wait in waits) for utid, waits in self._by_owner.items()}
