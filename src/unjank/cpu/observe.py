"""Shows that a setting works: where threads ran, and how much of the CPU they got, over some time."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from unjank.cpu.errors import ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.procstat import parse_schedstat
from unjank.cpu.threads import ThreadRef, read_stat

_LOOKS_PER_SECOND = 50


@dataclass(frozen=True)
class Observed:
    """What one thread did meanwhile.

    Attributes:
        thread: The thread.
        last_cpus: The CPUs it was seen to have run on last (field 39 of `stat`), one look every 20 ms; a
            thread that did not run meanwhile shows where it ran before.
        cpu_share: Time on a CPU, of one CPU's time; None where the kernel does not count it.
        wait_share: Time it was ready and kept waiting; None as well.
        ran: Whether it ran at all; None as well.
        ended: Whether it ended meanwhile.
    """

    thread: ThreadRef
    last_cpus: frozenset[int]
    cpu_share: float | None
    wait_share: float | None
    ran: bool | None
    ended: bool


class _Watch:
    """One thread's counters."""

    def __init__(self, thread: ThreadRef, tree: KernelTree) -> None:
        self._thread = thread
        self._tree = tree
        self._begin = time.monotonic_ns()
        self._first = self._times()
        self._latest = self._first
        self._cpus: set[int] = set()
        self._ended = False

    def look(self) -> None:
        """Reads where it ran last; and its times, for it may end before the next look."""
        try:
            self._cpus.add(read_stat(self._thread.pid, self._thread.tid, self._tree).last_cpu)
        except ThreadGoneError:
            self._ended = True
            return
        self._latest = self._times() or self._latest

    def result(self) -> Observed:
        """What was seen."""
        elapsed = max(time.monotonic_ns() - self._begin, 1)
        first, last = self._first, self._latest
        known = first is not None and last is not None
        run = last[0] - first[0] if first is not None and last is not None else 0
        wait = last[1] - first[1] if first is not None and last is not None else 0
        return Observed(
            self._thread,
            frozenset(self._cpus),
            cpu_share=run / elapsed if known else None,
            wait_share=wait / elapsed if known else None,
            ran=run > 0 if known else None,
            ended=self._ended,
        )

    def _times(self) -> tuple[int, int] | None:
        path = self._tree.path(f"proc/{self._thread.pid}/task/{self._thread.tid}/schedstat")
        try:
            return parse_schedstat(path.read_bytes())
        except OSError:
            return None


def observe(
    threads: Iterable[ThreadRef], seconds: float = 1.0, tree: KernelTree | None = None
) -> tuple[Observed, ...]:
    """Watches threads for some time.

    Args:
        threads: Whom to watch.
        seconds: For how long.
        tree: The kernel's files.
    """
    tree = tree or KernelTree()
    watches = [_Watch(thread, tree) for thread in threads]
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left > 0:
            time.sleep(min(left, 1 / _LOOKS_PER_SECOND))
        for watch in watches:
            watch.look()
        if left <= 1 / _LOOKS_PER_SECOND:
            return tuple(watch.result() for watch in watches)
