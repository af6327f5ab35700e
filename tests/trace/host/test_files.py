"""The engine has no files: descriptors 0 to 2 only, and every path is refused."""

import pytest

from unjank.trace.host.errno import Errno
from unjank.trace.host.files import EngineLog, FileHost
from unjank.trace.host.memory import GuestMemory

_VECTORS, _OUT = 256, 512
_AT_FIRST = ("__syscall_chmod", "__syscall_lstat64", "__syscall_stat64", "__syscall_rmdir")
_AT_SECOND = (
    "__syscall_openat",
    "__syscall_faccessat",
    "__syscall_newfstatat",
    "__syscall_mkdirat",
    "__syscall_readlinkat",
    "__syscall_unlinkat",
    "__syscall_utimensat",
)


@pytest.fixture
def log() -> EngineLog:
    """An empty log."""
    return EngineLog()


@pytest.fixture
def files(memory: GuestMemory, log: EngineLog) -> FileHost:
    """File functions over the memory."""
    return FileHost(memory, log)


def test_standard_error_is_kept(memory: GuestMemory, files: FileHost, log: EngineLog) -> None:
    """What the engine writes in two buffers is one line of its log, and both are reported as written."""
    memory.write(600, b"out of ")
    memory.write(700, b"luck\n")
    word = memory.layout.word
    memory.pack(_VECTORS, 4 * word, 600, 7, 700, 5)
    assert files.bodies()["fd_write"](2, _VECTORS, 2, _OUT) == Errno.SUCCESS
    assert memory.unpack(_OUT, word) == (12,)
    assert log.lines() == ["out of luck"]


def test_other_descriptors_are_bad(files: FileHost) -> None:
    """Nothing can be read, written, closed or sought on a descriptor nobody opened."""
    bodies = files.bodies()
    assert bodies["fd_write"](3, _VECTORS, 0, _OUT) == Errno.EBADF
    assert bodies["fd_read"](3, _VECTORS, 0, _OUT) == Errno.EBADF
    assert bodies["fd_close"](3) == bodies["fd_sync"](3) == Errno.EBADF
    assert bodies["fd_seek"](3, 0, 0, _OUT) == Errno.EBADF
    assert bodies["fd_fdstat_get"](3, _OUT) == Errno.EBADF
    assert bodies["__syscall_fcntl64"](3, 3, 0) == bodies["__syscall_ioctl"](3, 0, 0) == -Errno.EBADF
    for name in ("fchmod", "fchown32", "fstat64", "ftruncate64"):
        assert bodies[f"__syscall_{name}"](1, 0) == -Errno.EBADF


def test_standard_descriptors_are_a_terminal_without_input(memory: GuestMemory, files: FileHost) -> None:
    """Standard input is at its end; the three are character devices that can't be sought."""
    bodies = files.bodies()
    memory.write(_OUT, b"\xff" * 24)
    assert bodies["fd_read"](0, _VECTORS, 1, _OUT) == Errno.SUCCESS
    assert memory.unpack(_OUT, memory.layout.word) == (0,)
    assert bodies["fd_fdstat_get"](1, _OUT) == Errno.SUCCESS
    assert memory.read(_OUT, 24)[0] == 2
    assert bodies["fd_seek"](1, 0, 0, _OUT) == Errno.ESPIPE
    assert bodies["fd_close"](1) == bodies["fd_sync"](2) == Errno.SUCCESS
    assert bodies["__syscall_fcntl64"](1, 3, 0) == 2
    assert bodies["__syscall_fcntl64"](1, 1, 0) == 0
    assert bodies["__syscall_fcntl64"](1, 77, 0) == -Errno.EINVAL
    assert bodies["__syscall_ioctl"](1, 0, 0) == -Errno.ENOTTY


@pytest.mark.parametrize("name", _AT_FIRST + _AT_SECOND)
def test_every_path_is_refused_and_remembered(memory: GuestMemory, files: FileHost, name: str) -> None:
    """The answer is EACCES, and the path is kept for the error message."""
    memory.write(600, b"/etc/passwd\0")
    arguments = (600, 0) if name in _AT_FIRST else (-100, 600, 0, 0)
    assert files.bodies()[name](*arguments) == -Errno.EACCES
    assert files.refused == "/etc/passwd"


def test_nothing_can_be_mapped(files: FileHost) -> None:
    """There is no file to map into memory."""
    assert files.bodies()["_mmap_js"](0, 0, 0, 0, 0, 0, 0) == -Errno.ENODEV
    assert files.bodies()["_munmap_js"](0, 0, 0, 0, 0, 0) == -Errno.EINVAL


def test_working_folder_is_the_root(memory: GuestMemory, files: FileHost) -> None:
    """Getcwd answers "/" where it fits, and never tells where this process is."""
    assert files.bodies()["__syscall_getcwd"](_OUT, 100) == 2
    assert memory.text(_OUT) == "/"
    assert files.bodies()["__syscall_getcwd"](_OUT, 1) == -Errno.ERANGE


def test_emscripten_err_goes_to_the_log(memory: GuestMemory, files: FileHost, log: EngineLog) -> None:
    """The engine's other way to complain is kept as well."""
    memory.write(600, b"stack overflow\0")
    files.bodies()["emscripten_err"](600)
    assert log.lines() == ["stack overflow"]


def test_log_is_bounded_and_without_progress(log: EngineLog) -> None:
    """Only the last lines are kept, and progress is not news."""
    for number in range(1000):
        log.feed(f"line {number}\n".encode())
    log.feed(b"\rLoading trace 1.00 MB (60.0 MB/s)\n\ntail")
    assert len(log.lines()) <= 200
    assert log.lines()[-2:] == ["line 999", "tail"]


def test_log_keeps_a_line_of_any_length_bounded(log: EngineLog) -> None:
    """A line that never ends does not grow without limit."""
    for _ in range(10):
        log.feed(b"x" * 65536)
    assert sum(map(len, log.lines())) <= 65536
