"""The folder of a result: on this machine, or wherever fsspec reaches. Files appear whole or not at all."""

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from unjank._errors import UnjankError
from unjank.fleet._extras import require_fsspec, require_pyarrow
from unjank.fleet._trace import is_url

_LOCAL_PREFIX = "file://"
_PARQUET_MAGIC = b"PAR1"
_FOOTER_BYTES = 64 << 10  # nearly all footers are shorter


class Storage(Protocol):
    """A folder. Names in it use `/`.

    Attributes:
        url: Its path or fsspec URL, for another process to open.
    """

    url: str

    def names(self, folder: str) -> list[str]:
        """Names of the visible files right in a folder below, sorted; none if it is not there."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""

    def open(self, name: str) -> BinaryIO:
        """Opens a file to read it, at any place."""

    def arrow_file(self, name: str) -> Any:  # noqa: ANN401  a pyarrow.NativeFile
        """A Parquet file for Arrow to read, without Python's help.

        Arrow reads with threads of its own. One that holds a Python object as the interpreter ends needs the
        GIL to let go of it, cannot have it any more, and the process aborts.
        """

    def arrow_footer(self, name: str) -> Any:  # noqa: ANN401  see arrow_file
        """A file with the footer of a Parquet file, and perhaps its rows."""

    def replace(self, name: str) -> Any:  # noqa: ANN401  a context manager; Protocol can't say it shorter
        """Context manager: a binary file that takes the name when the block ends well."""

    def remove(self, name: str) -> None:
        """Removes a file."""

    def holds(self, place: str) -> bool:
        """Whether a path or URL leads into this folder, so that it is part of the result."""

    def arrow_places(self, names: Iterable[str]) -> tuple[list[str], Any]:
        """Where pyarrow finds files: their paths, and the file system to be given with them."""


def open_storage(place: str | os.PathLike[str]) -> Storage:
    """The folder at a path or an fsspec URL; it is made when something is written."""
    text = os.fspath(place)
    if text.startswith(_LOCAL_PREFIX):
        return LocalFolder(Path(text.removeprefix(_LOCAL_PREFIX)))
    return RemoteFolder(text) if is_url(text) else LocalFolder(Path(text))


class LocalFolder:
    """A folder of the file system, also a shared one. A file is committed by renaming it."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.url = str(self.path)

    def names(self, folder: str) -> list[str]:
        """See Storage."""
        place = self.path / folder
        if not place.is_dir():
            return []
        return sorted(f"{folder}/{path.name}" for path in place.iterdir() if not path.name.startswith("."))

    def exists(self, name: str) -> bool:
        """See Storage."""
        return (self.path / name).is_file()

    def open(self, name: str) -> BinaryIO:
        """See Storage."""
        return (self.path / name).open("rb")

    def arrow_file(self, name: str) -> Any:  # noqa: ANN401  see Storage
        """See Storage."""
        return require_pyarrow().OSFile(str(self.path / name))

    arrow_footer = arrow_file

    @contextmanager
    def replace(self, name: str) -> Iterator[BinaryIO]:
        """See Storage.

        Raises:
            UnjankError: The file cannot be written.
        """
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _committed(target) as file:
                yield file
        except OSError as error:
            raise UnjankError(f"{target}: can't be written: {error.strerror or error}") from error

    def remove(self, name: str) -> None:
        """See Storage."""
        (self.path / name).unlink(missing_ok=True)

    def holds(self, place: str) -> bool:
        """See Storage."""
        return not is_url(place) and Path(place).absolute().is_relative_to(self.path)

    def arrow_places(self, names: Iterable[str]) -> tuple[list[str], Any]:
        """See Storage."""
        return [str(self.path / name) for name in names], None


class RemoteFolder:
    """A folder of an object store, or what else fsspec knows. A file is committed by one upload.

    Object stores show an object when it is complete, which is what makes the commit; so a file is put
    together in memory and uploaded in one go.

    Raises:
        UnjankError: fsspec or its package for such a URL is not installed, or nobody knows that kind.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            self._fs, self._root = require_fsspec().url_to_fs(self.url)
        except (OSError, ValueError, ImportError) as error:
            raise UnjankError(f"{self.url}: can't be used: {error}") from error

    def names(self, folder: str) -> list[str]:
        """See Storage."""
        try:
            found = self._fs.ls(self._at(folder), detail=True, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = (entry["name"].rpartition("/")[2] for entry in found if entry["type"] == "file")
        return sorted(f"{folder}/{name}" for name in names if not name.startswith("."))

    def exists(self, name: str) -> bool:
        """See Storage."""
        return bool(self._fs.isfile(self._at(name)))

    def open(self, name: str) -> BinaryIO:
        """See Storage."""
        file: BinaryIO = self._fs.open(self._at(name), "rb")
        return file

    def arrow_file(self, name: str) -> Any:  # noqa: ANN401  see Storage
        """See Storage."""
        return _arrow_copy(self._fs.cat_file(self._at(name)))

    def arrow_footer(self, name: str) -> Any:  # noqa: ANN401  see Storage
        """See Storage."""
        tail = self._fs.cat_file(self._at(name), start=-_FOOTER_BYTES)
        length = int.from_bytes(tail[-8:-4], "little") + 8  # with its own length and the magic number
        if length > len(tail):
            tail = self._fs.cat_file(self._at(name), start=-length)
        return _arrow_copy(_PARQUET_MAGIC + tail[-length:])

    @contextmanager
    def replace(self, name: str) -> Iterator[BinaryIO]:
        """See Storage.

        Raises:
            UnjankError: The file cannot be written.
        """
        file = io.BytesIO()
        yield file
        target = self._at(name)
        try:
            self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._fs.pipe_file(target, file.getvalue())
        except OSError as error:
            raise UnjankError(f"{self.url}/{name}: can't be written: {error.strerror or error}") from error

    def remove(self, name: str) -> None:
        """See Storage."""
        if self.exists(name):
            self._fs.rm_file(self._at(name))

    def holds(self, place: str) -> bool:
        """See Storage."""
        return place.startswith(f"{self.url}/")

    def arrow_places(self, names: Iterable[str]) -> tuple[list[str], Any]:
        """See Storage."""
        return [self._at(name) for name in names], self._fs

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _arrow_copy(content: bytes) -> Any:  # noqa: ANN401  a pyarrow.BufferReader
    """In Arrow's own memory: a Python object's would be let go of by a thread of Arrow's, see arrow_file."""
    arrow = require_pyarrow()
    stream = arrow.BufferOutputStream()
    stream.write(content)
    return arrow.BufferReader(stream.getvalue())


@contextmanager
def _committed(target: Path) -> Iterator[BinaryIO]:
    fd, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's mask, read where reading does not change it for other threads."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o077
