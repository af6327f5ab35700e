"""Gets the bytes of a trace near: a remote one is copied to a temporary file, the next one ahead of time."""

import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from unjank._errors import UnjankError
from unjank.fleet._extras import require_fsspec
from unjank.fleet._trace import is_url

_CHUNK = 1 << 20


class FetchError(UnjankError):
    """A trace could not be copied here."""


class Fetcher:
    """Copies remote traces into a private folder, and asks the kernel to read local ones ahead.

    Copies are made by one thread, while the engine is at work on the trace before.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="unjank-fleet-"))
        self._thread = ThreadPoolExecutor(1, "unjank fetch")
        self._coming: dict[str, Future[Path]] = {}

    def expect(self, name: str) -> None:
        """Starts to get a trace that will be asked for soon."""
        if is_url(name):
            if name not in self._coming:
                self._coming[name] = self._thread.submit(self._copy, name)
        else:
            _read_ahead(name)

    def get(self, name: str) -> Path:
        """A path at which the trace can be read; `done` frees it.

        Raises:
            FetchError: It could not be copied.
        """
        if not is_url(name):
            return Path(name)
        self.expect(name)
        for other in [other for other in self._coming if other != name]:
            self._drop(self._coming.pop(other))  # expected, but never asked for
        return self._coming.pop(name).result()

    def done(self, name: str, path: Path) -> None:
        """Frees the copy of a remote trace."""
        if is_url(name):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Removes what is left."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _copy(self, url: str) -> Path:
        fd, name = tempfile.mkstemp(dir=self._folder)
        path = Path(name)
        try:
            with os.fdopen(fd, "wb") as target, require_fsspec().open(url, "rb") as source:
                shutil.copyfileobj(source, target, _CHUNK)
        except UnjankError:
            raise
        except Exception as error:  # each file system of fsspec raises what its own client raises
            path.unlink(missing_ok=True)
            raise FetchError(f"can't be fetched: {_in_one_line(error)}") from error
        return path

    def _drop(self, copy: "Future[Path]") -> None:
        remove: Callable[[Future[Path]], None] = lambda done: _remove_result(done)  # noqa: E731
        if not copy.cancel():
            copy.add_done_callback(remove)


def _remove_result(copy: "Future[Path]") -> None:
    with suppress(UnjankError):
        copy.result().unlink(missing_ok=True)


def _read_ahead(name: str) -> None:
    with suppress(OSError):
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(fd)


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
