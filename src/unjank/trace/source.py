"""Where a trace comes from: checked before the engine sees it, readable again where it is a file."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from unjank.trace.errors import TraceLoadError
from unjank.trace.framing import PacketFraming

_CHUNK = 1 << 20
# A trace takes several times its size in memory: beyond these it would not fit into what 32 bits address.
_WIDE_FROM_BYTES = 1 << 30
_WIDE_FROM_COMPRESSED_BYTES = 128 << 20
_COMPRESSED_MAGIC = (b"\x1f\x8b", b"PK")


class TraceSource(Protocol):
    """A trace that can be handed to perfetto's loader.

    Attributes:
        name: what messages call it.
        path: the file, or None where it is not one that can be read again.
        framing: follows the packets of what was read last.
    """

    name: str
    path: Path | None
    framing: PacketFraming

    def reference(self) -> Any:  # noqa: ANN401  perfetto's TraceReference has no static type
        """What perfetto's loader takes; asked anew for each attempt to load."""


class FileSource:
    """A trace in a file, or one that comes through a named pipe and can be read only once.

    Raises:
        TraceLoadError: there is no such file, it is not a file, is empty, or may not be read.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        status = _checked(path)
        self.path: Path | None = path if stat.S_ISREG(status.st_mode) else None
        self.framing = PacketFraming()
        self.size = status.st_size
        self._was_read = False

    def reference(self) -> Iterator[bytes]:
        """The file's bytes from the start.

        Raises:
            TraceLoadError: it is a pipe that was read before.
        """
        if self._was_read and self.path is None:
            raise TraceLoadError(f"{self.name}: has to be read a second time; give a plain file instead")
        self._was_read = True
        self.framing = PacketFraming()
        return self._read()

    def _read(self) -> Iterator[bytes]:
        try:
            with open(self.name, "rb", buffering=0) as file:  # noqa: PTH123  the name is what was given
                while chunk := file.read(_CHUNK):
                    self.framing.feed(chunk)
                    yield chunk
        except OSError as error:
            raise TraceLoadError(f"{self.name}: can't be read: {error.strerror}") from error


class StreamSource:
    """A trace that comes as bytes from an open file or an iterator; it can be read only once."""

    def __init__(self, chunks: Iterable[bytes], name: str) -> None:
        self.name = name
        self.path: Path | None = None
        self.framing = PacketFraming()
        self._chunks: Iterable[bytes] | None = chunks

    def reference(self) -> Iterator[bytes]:
        """The bytes.

        Raises:
            TraceLoadError: they were read before.
        """
        chunks, self._chunks = self._chunks, None
        if chunks is None:
            raise TraceLoadError(f"{self.name}: has to be read a second time; give its path instead")
        return self._read(chunks)

    def _read(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        empty = True
        for chunk in chunks:
            empty = empty and not chunk
            self.framing.feed(chunk)
            yield chunk
        if empty:
            raise TraceLoadError(f"{self.name}: is empty")


class ResolverSource:
    """A trace that perfetto's resolvers find: a URI, or a resolver object."""

    def __init__(self, reference: Any) -> None:  # noqa: ANN401  see TraceSource.reference
        self.name = reference if isinstance(reference, str) else type(reference).__name__
        self.path: Path | None = None
        self.framing = PacketFraming()
        self._reference = reference

    def reference(self) -> Any:  # noqa: ANN401  see TraceSource.reference
        """As it was given."""
        return self._reference


def open_source(trace: Any, uri_prefixes: Iterable[str | None]) -> TraceSource:  # noqa: ANN401  see above
    """The source for what a caller passed as trace.

    Args:
        trace: path, URI, open binary file, iterator of bytes, bytes, or a resolver object of perfetto's.
        uri_prefixes: names of the resolvers; text that starts with one and a colon is a URI, unless there
            is a file of that name.

    Raises:
        TraceLoadError: the file can't be read or is empty.
    """
    if isinstance(trace, str) and not os.path.lexists(trace):
        prefix, colon, _ = trace.partition(":")
        if colon and prefix in set(uri_prefixes):
            return ResolverSource(trace)
    if isinstance(trace, (str, os.PathLike)):
        return FileSource(Path(trace))
    if isinstance(trace, (bytes, bytearray, memoryview)):
        return StreamSource([bytes(trace)], "trace in memory")
    if hasattr(trace, "resolve"):
        return ResolverSource(trace)
    name = str(getattr(trace, "name", None) or "trace in memory")
    if hasattr(trace, "read"):
        return StreamSource(iter(lambda: trace.read(_CHUNK), b""), name)
    return StreamSource(trace, name)


def needs_wide_memory(source: TraceSource) -> bool:
    """Whether the trace is so large that trying 32-bit memory first would be wasted time."""
    if not isinstance(source, FileSource) or source.size < _WIDE_FROM_COMPRESSED_BYTES:
        return False
    with open(source.name, "rb") as file:  # noqa: PTH123  as in FileSource
        compressed = file.read(2) in _COMPRESSED_MAGIC
    return compressed or source.size >= _WIDE_FROM_BYTES


def _checked(path: Path) -> os.stat_result:
    try:
        status = path.stat()
    except FileNotFoundError:
        raise TraceLoadError(f"{path}: no such file") from None
    except OSError as error:
        raise TraceLoadError(f"{path}: can't be read: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        raise TraceLoadError(f"{path}: is a folder; give a trace file in it")
    # Asked for rather than tried: opening a pipe would take it from its writer.
    if not os.access(path, os.R_OK):
        raise TraceLoadError(f"{path}: may not be read by this user")
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:
        raise TraceLoadError(f"{path}: is empty; was the recording started, and stopped properly?")
    return status
