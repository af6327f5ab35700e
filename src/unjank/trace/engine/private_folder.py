"""A folder only its owner can use, and files in it that may be trusted with native code.

The cache holds machine code that is mapped and run. So nothing is read from it unless the folder and the
file belong to this user, nobody else may write them, no link led there, and the content has the digest
that the file's name promises.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_CHUNK = 1 << 20


class UntrustedCacheError(Exception):
    """A cache folder or file that must not be used; the message says why."""


def cache_home() -> Path:
    """The user's cache folder (XDG base directory specification): absolute paths only, else ~/.cache.

    Raises:
        UntrustedCacheError: the user has no home folder.
    """
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if configured.is_absolute():
        return configured
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        raise UntrustedCacheError(str(error)) from error


class PrivateFolder:
    """A folder of mode 0700 that belongs to this user; made when it does not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ensure(self) -> None:
        """Makes the folder, or checks the one that is there.

        Raises:
            UntrustedCacheError: it belongs to somebody else, others may enter it, or it is a link.
            OSError: it could not be made.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            self.path.mkdir(mode=0o700)
        status = self.path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise UntrustedCacheError(f"{self.path} is not a folder")
        _require_ours(self.path, status, forbidden=0o077)

    def find(self, prefix: str, suffix: str) -> list[Path]:
        """Files `PREFIX.DIGEST SUFFIX` in the folder, sorted by name."""
        files = sorted(self.path.iterdir())
        return [file for file in files if file.name.startswith(prefix + ".") and file.name.endswith(suffix)]

    def open_verified(self, path: Path) -> int:
        """Opens a file written by `write` and checks it; returns a descriptor that the caller closes.

        Raises:
            UntrustedCacheError: not ours, open to others, a link, or not what was written.
            OSError: it can't be read.
        """
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise UntrustedCacheError(f"{path} is not a plain file")
            _require_ours(path, status, forbidden=0o077)
            if _digest_of(fd) != path.name.split(".")[-2]:
                raise UntrustedCacheError(f"{path} is damaged")
        except BaseException:
            os.close(fd)
            raise
        return fd

    def write(self, prefix: str, suffix: str, data: bytes | bytearray) -> Path:
        """Writes a file whose name carries its digest; it appears whole or not at all."""
        target = self.path / f"{prefix}.{hashlib.sha256(data).hexdigest()}{suffix}"
        fd, temporary = tempfile.mkstemp(prefix=".new-", dir=self.path)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, target)  # noqa: PTH104  beside mkstemp, which deals in strings
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return target


def _require_ours(path: Path, status: os.stat_result, forbidden: int) -> None:
    if status.st_uid != os.geteuid():
        raise UntrustedCacheError(f"{path} belongs to another user (uid {status.st_uid})")
    if status.st_mode & forbidden:
        raise UntrustedCacheError(f"{path} is open to other users (mode {stat.S_IMODE(status.st_mode):04o})")


def _digest_of(fd: int) -> str:
    digest = hashlib.sha256()
    while chunk := os.read(fd, _CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
