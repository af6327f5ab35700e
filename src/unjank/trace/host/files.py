"""Host functions for files: there are none. SQL comes from untrusted hands, so each access is refused.

The engine's C library has descriptors 0 to 2; what is written to 1 and 2 is kept as the engine's log.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from unjank.trace.host.errno import Errno
from unjank.trace.host.memory import GuestMemory

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_STANDARD = (_STDIN, _STDOUT, _STDERR)
_FILETYPE_CHARACTER_DEVICE = 2
_F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL = 1, 2, 3, 4
_O_RDWR = 2
# What the engine writes at each start (its memory can't be protected) and while loading: no news to anybody.
_NOISE = ("warning: unsupported syscall: __syscall_mprotect", "Loading trace ")


class EngineLog:
    """The last lines the engine wrote to its standard error; bounded, since it may write one per event."""

    def __init__(self, lines: int = 200) -> None:
        self._lines: deque[str] = deque(maxlen=lines)
        self._partial = b""

    def feed(self, data: bytes) -> None:
        """Appends raw output, which need not end at a line's end."""
        *complete, self._partial = (self._partial + data)[-65536:].split(b"\n")
        self._lines.extend(line.decode("utf-8", "replace") for line in complete)

    def lines(self) -> list[str]:
        """What is kept, oldest first, without empty lines and progress."""
        kept = [line.strip() for line in (*self._lines, self._partial.decode("utf-8", "replace"))]
        return [line for line in kept if line and not line.startswith(_NOISE)]


class FileHost:
    """Bodies of the imports that touch descriptors and paths.

    Attributes:
        refused: the path of the last refused access, or None; lets an error message name it.
    """

    def __init__(self, memory: GuestMemory, log: EngineLog) -> None:
        self._memory = memory
        self._log = log
        self.refused: str | None = None

    def bodies(self) -> dict[str, Callable[..., Any]]:
        """Import name to body."""
        return {**self._descriptor_bodies(), **self._path_bodies()}

    def _descriptor_bodies(self) -> dict[str, Callable[..., Any]]:
        return {
            "fd_write": self._fd_write,
            "fd_read": self._fd_read,
            "fd_close": _standard_or_bad,
            "fd_sync": _standard_or_bad,
            "fd_seek": lambda fd, *_: Errno.ESPIPE if fd in _STANDARD else Errno.EBADF,
            "fd_fdstat_get": self._fd_fdstat_get,
            "emscripten_err": lambda text: self._log.feed(self._memory.text(text).encode() + b"\n"),
            "__syscall_fcntl64": _fcntl,
            "__syscall_ioctl": lambda fd, *_: -(Errno.ENOTTY if fd in _STANDARD else Errno.EBADF),
            # No descriptor has a file behind it, so these have nothing to act on.
            "__syscall_fchmod": _bad_descriptor,
            "__syscall_fchown32": _bad_descriptor,
            "__syscall_fstat64": _bad_descriptor,
            "__syscall_ftruncate64": _bad_descriptor,
            "_mmap_js": lambda *_: -Errno.ENODEV,
            "_munmap_js": lambda *_: -Errno.EINVAL,
        }

    def _path_bodies(self) -> dict[str, Callable[..., Any]]:
        at_first = lambda path, *_: self._refuse(path)  # noqa: E731  two shapes of one body
        at_second = lambda _directory, path, *_: self._refuse(path)  # noqa: E731
        return {
            "__syscall_openat": at_second,
            "__syscall_faccessat": at_second,
            "__syscall_newfstatat": at_second,
            "__syscall_mkdirat": at_second,
            "__syscall_readlinkat": at_second,
            "__syscall_unlinkat": at_second,
            "__syscall_utimensat": at_second,
            "__syscall_chmod": at_first,
            "__syscall_lstat64": at_first,
            "__syscall_stat64": at_first,
            "__syscall_rmdir": at_first,
            "__syscall_getcwd": self._getcwd,
        }

    def _refuse(self, path: int) -> int:
        self.refused = self._memory.text(path)
        return -Errno.EACCES

    def _fd_write(self, fd: int, vectors: int, count: int, written: int) -> int:
        if fd not in (_STDOUT, _STDERR):
            return Errno.EBADF
        layout = self._memory.layout
        total = 0
        for i in range(count):
            at, size = self._memory.unpack((vectors & layout.mask) + 2 * layout.size * i, 2 * layout.word)
            self._log.feed(self._memory.read(at, size))
            total += size
        self._memory.pack(written, layout.word, total)
        return Errno.SUCCESS

    def _fd_read(self, fd: int, _vectors: int, _count: int, read: int) -> int:
        if fd != _STDIN:
            return Errno.EBADF
        self._memory.pack(read, self._memory.layout.word, 0)  # end of file
        return Errno.SUCCESS

    def _fd_fdstat_get(self, fd: int, out: int) -> int:
        if fd not in _STANDARD:
            return Errno.EBADF
        # __wasi_fdstat_t: file type, flags, base rights, inheriting rights
        self._memory.pack(out, "BxHxxxxQQ", _FILETYPE_CHARACTER_DEVICE, 0, 0, 0)
        return Errno.SUCCESS

    def _getcwd(self, out: int, size: int) -> int:
        if size < 2:
            return -Errno.ERANGE
        self._memory.write(out, b"/\0")
        return 2


def _standard_or_bad(fd: int) -> int:
    return Errno.SUCCESS if fd in _STANDARD else Errno.EBADF


def _bad_descriptor(*_: int) -> int:
    return -Errno.EBADF


def _fcntl(fd: int, command: int, _argument: int) -> int:
    if fd not in _STANDARD:
        return -Errno.EBADF
    if command == _F_GETFL:
        return _O_RDWR
    return 0 if command in (_F_GETFD, _F_SETFD, _F_SETFL) else -Errno.EINVAL
