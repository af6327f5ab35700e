"""The processes below one, as /proc shows them: what they use, and their end."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
# /proc/PID/stat counts fields from 1; the second is the name in brackets, which may hold anything.
_STARTTIME_AFTER_NAME = 22 - 3


@dataclass(frozen=True)
class Process:
    """One process: its id, and when it started, since ids are used again."""

    pid: int
    start: str


def process(pid: int) -> Process | None:
    """The process with that id, None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return Process(pid, stat.rpartition(")")[2].split()[_STARTTIME_AFTER_NAME])


def tree(pid: int) -> list[Process]:
    """The process and all below it."""
    root = process(pid)
    if root is None:
        return []
    return [root, *(found for child in _children(pid) for found in tree(child))]


def resident_bytes(processes: list[Process]) -> int:
    """Memory of these processes; pages they share count for each."""
    total = 0
    for each in processes:
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{each.pid}/statm").read_text().split()[1]) * _PAGE
    return total


def end(processes: list[Process]) -> None:
    """Ends these processes at once, but none that has taken over an id since."""
    for each in processes:
        with suppress(ProcessLookupError):
            fd = os.pidfd_open(each.pid)
            try:
                # Looked at while the descriptor holds on to the process: its id cannot pass to another.
                if process(each.pid) == each:
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
            finally:
                os.close(fd)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found
