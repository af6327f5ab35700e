"""Writes a zip file next to one that is read: entries are copied as they stand, replaced, added or left out.

The same input gives the same output: new entries take their time from old ones, never from the clock.
"""

import zlib
from dataclasses import dataclass
from typing import BinaryIO

from unjank.jvm.archive.zip_format import (
    DEFLATED,
    END,
    END_64,
    END_64_MAGIC,
    END_MAGIC,
    LOCATOR_64,
    LOCATOR_64_MAGIC,
    MAX_16,
    MAX_32,
    Entry,
    fresh,
    local_extra,
    moved,
    replaced,
)
from unjank.jvm.archive.zip_reader import ZipReader
from unjank.jvm.errors import ArchiveError

_ZIP64_VERSION = 45
_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Content:
    """What is said of an entry's new content."""

    crc: int
    packed: int
    size: int


class ZipWriter:
    """Writes entries in the order of the calls; the directory keeps the order of the file that is read."""

    def __init__(self, reader: ZipReader, out: BinaryIO) -> None:
        """Copies what stands before the first entry, such as a script that starts the archive."""
        self._reader = reader
        self._out = out
        self._at = 0
        self._written: dict[int, tuple[int, Content | None]] = {}
        self._added: list[bytes] = []
        self._copy_range(0, reader.prefix_end)

    def copy(self, entry: Entry) -> None:
        """Copies an entry bit for bit."""
        self._written[entry.offset] = (self._offset(), None)
        self._copy_range(*self._reader.region(entry))

    def replace(self, entry: Entry, content: bytes) -> None:
        """Writes other content under an entry's name, time and permissions, packed by the same method."""
        packed = _deflate(content) if entry.method == DEFLATED else content
        about = Content(zlib.crc32(content), len(packed), len(content))
        offset = self._offset()
        extra = local_extra(self._reader.local_header(entry))
        local, _ = replaced(entry, extra, about.crc, about.packed, about.size, offset)
        self._written[entry.offset] = (offset, about)
        self._write(local + packed)

    def add(self, name: str, content: bytes, timestamp: tuple[int, int]) -> None:
        """Writes a new entry; it comes last in the directory."""
        packed = _deflate(content)
        local, central = fresh(
            name, timestamp, len(packed), len(content), zlib.crc32(content), self._offset()
        )
        self._write(local + packed)
        self._added.append(central)

    def finish(self) -> None:
        """Writes the directory."""
        offset = self._offset()
        records = [
            self._record(entry) for entry in self._reader.entries if entry.offset in self._written
        ] + self._added
        for record in records:
            self._write(record)
        count, size = len(records), self._at - self._reader.base - offset
        if count >= MAX_16:
            self._write_zip64_end(count, size, offset)
        limited, comment = min(count, MAX_16), self._reader.comment
        self._write(END.pack(END_MAGIC, 0, 0, limited, limited, size, offset, len(comment)) + comment)

    def _record(self, entry: Entry) -> bytes:
        offset, about = self._written[entry.offset]
        if about is None:
            return moved(entry, offset)
        return replaced(entry, b"", about.crc, about.packed, about.size, offset)[1]

    def _write_zip64_end(self, count: int, size: int, offset: int) -> None:
        at = self._at - self._reader.base
        body = END_64.size - 12  # what follows the field that says so
        version = _ZIP64_VERSION
        self._write(END_64.pack(END_64_MAGIC, body, version, version, 0, 0, count, count, size, offset))
        self._write(LOCATOR_64.pack(LOCATOR_64_MAGIC, 0, at, 1))

    def _offset(self) -> int:
        offset = self._at - self._reader.base
        if offset >= MAX_32:
            raise ArchiveError("the archive would grow beyond 4 GiB, which is not supported")
        return offset

    def _copy_range(self, begin: int, end: int) -> None:
        for chunk in self._reader.chunks(begin, end):
            self._write(chunk)

    def _write(self, data: bytes) -> None:
        self._out.write(data)
        self._at += len(data)


def _deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()
