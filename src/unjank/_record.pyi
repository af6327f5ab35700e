"""Recorded lock types and the recorder of this process."""

from collections.abc import Sequence
from types import TracebackType
from typing import final

@final
class Lock:
    """A lock that records who waits for it. Otherwise as `threading.Lock`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...
    def locked(self) -> bool: ...
    def __enter__(self) -> bool: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def _at_fork_reinit(self) -> None: ...

class RLock:
    """A reentrant lock that records who waits for it. Otherwise as `threading.RLock`."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...
    def __enter__(self) -> bool: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def _is_owned(self) -> bool: ...
    def _recursion_count(self) -> int: ...
    def _at_fork_reinit(self) -> None: ...

def allocate_lock() -> Lock:
    """Makes a recorded lock."""

def waiters(lock: Lock | RLock) -> int:
    """How many threads wait for a recorded lock at this moment."""

class TraceFile:
    """A trace file that several processes append whole packets to."""

    def __init__(self, path: str, shared_fd: int = -1) -> None:
        """Creates or empties the file; with the descriptor from another process's `share()`, joins it."""

    def share(self) -> int:
        """A descriptor for another process to join with; the caller closes it."""

    def append(self, packets: bytes) -> bool:
        """Appends whole packets, all or nothing."""

    @property
    def path(self) -> str: ...
    @property
    def error(self) -> int:
        """The errno of the first failed write; 0 if none."""

    @property
    def committed(self) -> int:
        """Bytes of whole packets, by all writers."""

def start(
    file: TraceFile,
    process_name: str,
    command_line: Sequence[str],
    facts: Sequence[tuple[str, str]],
    samples_owner: bool,
) -> None:
    """Starts recording into the file. RuntimeError if this process is being recorded already."""

def flush() -> None:
    """Returns once all that was recorded before is in the file."""

def stop(how: str) -> tuple[int, int]:
    """Ends the recording: bytes in the file, and the errno of the first failed write or 0."""

def recording() -> bool:
    """Whether this process is being recorded."""

def listen_to_loopers() -> None:
    """Has loopers tell of their messages, also if `unjank._looper` is imported later."""

def leave_loopers() -> None:
    """Has them tell no more."""

def name_thread(name: str) -> None:
    """Names the calling thread in the trace."""

def rename_thread(native_id: int, name: str) -> None:
    """Names the thread with this kernel id, if it is known."""

def set_wrapper_file(path: str) -> None:
    """Functions of this file are never the place of a wait, as those of threading.py."""

def set_library_file(path: str) -> None:
    """Functions of this file wait on behalf of the program, as those of queue.py."""

def set_own_file(path: str) -> None:
    """Functions of this file are not shown at all."""

def creation_name(what: str) -> int:
    """The name, as a number, of the object that the calling code makes and assigns."""

def begin_wait(function: str, object_name: int) -> bool:
    """Begins a wait slice. True if `end_wait` is owed."""

def begin_join(native_id: int) -> bool:
    """Begins the wait for the end of the thread with this kernel id. True if `end_wait` is owed."""

def end_wait(result: str) -> None:
    """Ends it: "acquired", "timeout" or "interrupted"."""
