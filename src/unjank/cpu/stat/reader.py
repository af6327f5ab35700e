"""A snapshot of all threads of a process. Each costs three short reads and a system call, about 30 µs in all.

Of the four files that tell something, `status` is the dearest: the kernel formats some fifty lines for two
counters. `sched` has those and the migrations, so `status` is read only where there is no `sched`.
"""

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from unjank._errors import CpuError
from unjank.cpu.errors import ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.procstat import (
    FIRST_FIELD,
    Switches,
    parse_sched,
    parse_schedstat,
    parse_status_switches,
    split_stat,
)

_STATE, _NICE, _START = 3 - FIRST_FIELD, 19 - FIRST_FIELD, 22 - FIRST_FIELD
_CPU, _PRIORITY, _POLICY = 39 - FIRST_FIELD, 40 - FIRST_FIELD, 41 - FIRST_FIELD
_LONGEST = 8192  # `sched` with CONFIG_SCHEDSTATS has some 4 KiB


class ThreadSample(NamedTuple):
    """One thread's counters since its birth, and what it is at now.

    A tuple rather than a dataclass: a thousand of them are made per snapshot.
    """

    tid: int
    name: str
    state: str
    nice: int
    policy: int
    realtime_priority: int
    last_cpu: int
    start_ticks: int
    at_ns: int
    """When it was read, on the monotonic clock."""
    run_ns: int | None
    """Time on a CPU; None where the kernel does not count it."""
    wait_ns: int | None
    """Time ready but kept waiting for a CPU; None likewise."""
    switches: Switches | None
    affinity: frozenset[int]


class Snapshot(NamedTuple):
    """All threads of a process by id, at about one time."""

    pid: int
    at_ns: int
    threads: dict[int, ThreadSample]


class ThreadReader:
    """Takes snapshots of one process, and of no other that gets its id later."""

    def __init__(
        self,
        pid: int,
        tree: KernelTree | None = None,
        affinity: Callable[[int], frozenset[int] | set[int]] = os.sched_getaffinity,
    ) -> None:
        """Opens the process's folder.

        Raises:
            ThreadGoneError: There is no such process.
            CpuError: Its threads may not be looked at.
        """
        self.pid = pid
        self._affinity = affinity
        self._counters = "sched"
        path = (tree or KernelTree()).path(f"proc/{pid}/task")
        try:
            # Relative to this, names are short, and a successor of the process is not found.
            self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, ProcessLookupError, NotADirectoryError) as error:
            raise ThreadGoneError(
                f"there is no process {pid}; it has ended, or is hidden from this user"
            ) from error
        except OSError as error:
            raise CpuError(f"{path} cannot be opened: {error.strerror}; run as its user, or root") from error

    def read(self) -> Snapshot:
        """Reads all threads; those that end meanwhile are left out.

        Raises:
            ThreadGoneError: The process has ended.
        """
        at_ns = time.monotonic_ns()
        try:
            names = os.listdir(self._folder)  # noqa: PTH208  a descriptor has no path
        except OSError:
            names = []
        threads = {int(name): sample for name in names if (sample := self._sample(name)) is not None}
        if not threads:
            raise ThreadGoneError(f"process {self.pid} has ended")
        return Snapshot(self.pid, at_ns, threads)

    def close(self) -> None:
        """Closes the folder."""
        os.close(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _sample(self, tid: str) -> ThreadSample | None:
        number = int(tid)
        try:
            at_ns = time.monotonic_ns()
            name, fields = split_stat(self._file(f"{tid}/stat"))
            times = self._times(tid)
            switches = self._switches(tid)
            affinity = frozenset(self._affinity(number))
        except (FileNotFoundError, ProcessLookupError):
            return None
        except OSError as error:
            raise CpuError(f"thread {tid} of process {self.pid} cannot be read: {error.strerror}") from error
        return ThreadSample(
            number,
            name,
            fields[_STATE].decode(),
            int(fields[_NICE]),
            int(fields[_POLICY]),
            int(fields[_PRIORITY]),
            int(fields[_CPU]),
            int(fields[_START]),
            at_ns,
            times[0] if times else None,
            times[1] if times else None,
            switches,
            affinity,
        )

    def _times(self, tid: str) -> tuple[int, int] | None:
        try:
            return parse_schedstat(self._file(f"{tid}/schedstat"))
        except FileNotFoundError:  # no CONFIG_SCHED_INFO; or the thread has ended, as the next read finds
            return None

    def _switches(self, tid: str) -> Switches | None:
        if self._counters == "sched":
            try:
                found = parse_sched(self._file(f"{tid}/sched"))
            except (FileNotFoundError, PermissionError):
                found = None
            if found is not None:
                return found
            found = parse_status_switches(self._file(f"{tid}/status"))
            self._counters = "status"  # it is there, so it is `sched` that is missing
            return found
        return parse_status_switches(self._file(f"{tid}/status"))

    def _file(self, name: str) -> bytes:
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._folder)
        try:
            return os.read(fd, _LONGEST)
        finally:
            os.close(fd)
