"""Which threads are meant: by native id, by Python `Thread`, all of a process, or by name."""

import fnmatch
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import psutil

from unjank._errors import CpuError
from unjank.cpu.errors import ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.procstat import ThreadStat, parse_stat, status_field

Thread = int | threading.Thread
"""A native thread id, or a running Python thread. 0 or below is the caller, as in sched_setaffinity(2)."""


@dataclass(frozen=True)
class ThreadRef:
    """A thread, named for good: an id is given to another thread later, but not with the same start.

    `start_ticks` is field 22 of its `stat`, in clock ticks since the machine started.
    """

    pid: int
    tid: int
    name: str
    start_ticks: int

    def __str__(self) -> str:
        return f"thread {self.tid} ({self.name})"


def native_id(thread: Thread | None = None) -> int:
    """The kernel's id of a thread; the caller's for None, 0 and below.

    Raises:
        ThreadGoneError: A Python thread that has ended.
        CpuError: A Python thread that has not started.
    """
    if isinstance(thread, threading.Thread):
        if thread.native_id is None:
            raise CpuError(f"thread {thread.name!r} has no native id yet; start() it first")
        if not thread.is_alive():
            raise ThreadGoneError(f"thread {thread.name!r} has ended")
        return thread.native_id
    return threading.get_native_id() if thread is None or thread <= 0 else thread


def find_thread(thread: Thread | None = None, tree: KernelTree | None = None) -> ThreadRef:
    """Looks a thread up.

    Raises:
        ThreadGoneError: There is none.
    """
    tree = tree or KernelTree()
    tid = native_id(thread)
    # The kernel answers for a thread's id there too, though it does not list it.
    pid = status_field(tree.text(f"proc/{tid}/status") or "", "Tgid")
    if pid is None:
        raise ThreadGoneError(f"there is no thread {tid}; list a process's with: unjank cpu stat PID")
    stat = read_stat(int(pid), tid, tree)
    return ThreadRef(int(pid), tid, stat.name, stat.start_ticks)


def threads_of(pid: int, tree: KernelTree | None = None) -> list[ThreadRef]:
    """All threads of a process, by id.

    Raises:
        ThreadGoneError: There is no such process.
    """
    tree = tree or KernelTree()
    tids = sorted(int(name) for name in tree.names(f"proc/{pid}/task") if name.isdecimal())
    found = [thread for tid in tids if (thread := _look(pid, tid, tree))]
    if not found:
        raise ThreadGoneError(f"there is no process {pid}; it has ended, or is hidden from this user")
    return found


def find_processes(pattern: str) -> list[int]:
    """Ids of the processes of that name, `*` and `?` allowed; by id.

    Raises:
        ThreadGoneError: There is none.
    """
    with_names = psutil.process_iter(["name"])
    found = [p.pid for p in with_names if fnmatch.fnmatchcase(p.info["name"] or "", pattern)]
    if not found:
        raise ThreadGoneError(f"no process is called {pattern!r}; give its id, or a pattern such as 'pyth*'")
    return sorted(found)


def select_threads(
    *,
    tids: Iterable[Thread] = (),
    pids: Iterable[int] = (),
    name: str | None = None,
    tree: KernelTree | None = None,
) -> list[ThreadRef]:
    """All threads that are meant.

    Args:
        tids: Single threads.
        pids: Processes, of which all threads are meant.
        name: Of those processes, only threads whose name fits; `*` and `?` are allowed. Without processes,
            this process's own threads.
        tree: The kernel's files.

    Raises:
        ThreadGoneError: One of them is not there, or no thread has such a name.
    """
    tree = tree or KernelTree()
    processes = list(pids) or ([os.getpid()] if name is not None else [])
    members = [thread for pid in processes for thread in threads_of(pid, tree)]
    if name is not None:
        members = [thread for thread in members if fnmatch.fnmatchcase(thread.name, name)]
        if not members:
            places = ", ".join(map(str, processes))
            raise ThreadGoneError(
                f"no thread of process {places} is called {name!r}; names are cut to 15 characters"
            )
    chosen = [find_thread(thread, tree) for thread in tids] + members
    return list({thread.tid: thread for thread in chosen}.values())


def read_stat(pid: int, tid: int, tree: KernelTree | None = None) -> ThreadStat:
    """A thread's account.

    Raises:
        ThreadGoneError: The thread is not there.
    """
    path = (tree or KernelTree()).path(f"proc/{pid}/task/{tid}/stat")
    try:
        return parse_stat(path.read_bytes())
    except (FileNotFoundError, ProcessLookupError) as error:
        raise ThreadGoneError(f"thread {tid} of process {pid} has ended") from error
    except OSError as error:
        raise CpuError(f"{path} cannot be read: {error.strerror}") from error


def is_same(thread: ThreadRef, tree: KernelTree | None = None) -> bool:
    """Whether that very thread is still there."""
    try:
        return read_stat(thread.pid, thread.tid, tree).start_ticks == thread.start_ticks
    except ThreadGoneError:
        return False


def _look(pid: int, tid: int, tree: KernelTree) -> ThreadRef | None:
    try:
        stat = read_stat(pid, tid, tree)
    except ThreadGoneError:  # it ended since the folder was listed
        return None
    return ThreadRef(pid, tid, stat.name, stat.start_ticks)


def new_threads(pids: Iterable[int], known: set[int], tree: KernelTree | None = None) -> Iterator[ThreadRef]:
    """Threads of these processes that are not known yet; a process that is gone has none."""
    for pid in pids:
        try:
            yield from (thread for thread in threads_of(pid, tree) if thread.tid not in known)
        except ThreadGoneError:
            continue
