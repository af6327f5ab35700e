"""A zip file's entries, and their content within limits. Nothing is unpacked to a disk."""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol

from unjank.jvm.archive.limits import check_name
from unjank.jvm.archive.zip_format import (
    CENTRAL_MAGIC,
    DEFLATED,
    ENCRYPTED,
    END,
    END_64,
    END_64_MAGIC,
    END_MAGIC,
    LOCAL,
    LOCAL_MAGIC,
    LOCATOR_64,
    LOCATOR_64_MAGIC,
    MAX_16,
    MAX_32,
    STORED,
    Entry,
    parse_central,
)
from unjank.jvm.errors import ArchiveError

_LONGEST_COMMENT = 0xFFFF
_CHUNK = 1 << 20


class Source(Protocol):
    """Bytes that are read where they are needed."""

    size: int

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes from `offset` on."""

    def close(self) -> None:
        """Lets go of what is behind it."""


class FileSource:
    """A file on disk."""

    def __init__(self, path: Path) -> None:
        """Opens the file; raises ArchiveError if that cannot be done."""
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise ArchiveError(f"cannot read {path}: {error.strerror}") from error
        self.size = os.fstat(self._file.fileno()).st_size

    def read_at(self, offset: int, count: int) -> bytes:
        """See `Source`."""
        return os.pread(self._file.fileno(), count, offset)

    def close(self) -> None:
        """See `Source`."""
        self._file.close()


class BytesSource:
    """A nested archive in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, offset: int, count: int) -> bytes:
        """See `Source`."""
        return self._data[offset : offset + count]

    def close(self) -> None:
        """See `Source`."""


class ZipReader:
    """A zip file.

    `entries` are in the directory's order, doubles included; `distinct` has each entry once, in the order of
    the file. `base` is what has to be added to offsets: the length of a script before the archive that its
    offsets do not count; `prefix_end` is where the first entry begins.
    """

    def __init__(self, source: Source, name: str) -> None:
        """Reads the directory.

        Raises:
            ArchiveError: It is no zip file, damaged, has entries that overlap, or names that lead out of it.
        """
        self._source = source
        self.name = name
        try:
            self._read()
        except ArchiveError as error:
            source.close()
            raise ArchiveError(f"{name}: {error}") from error

    @classmethod
    def open(cls, path: Path) -> "ZipReader":
        """Opens a file."""
        return cls(FileSource(path), str(path))

    def __enter__(self) -> "ZipReader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._source.close()

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self._source.size

    def read(self, entry: Entry) -> bytes:
        """An entry's content, checked against its size and checksum. The caller checks the size it promises.

        Raises:
            ArchiveError: It is encrypted, packed in a way that jars do not use, or damaged.
        """
        if entry.flags & ENCRYPTED or entry.method not in (STORED, DEFLATED):
            raise ArchiveError(f"{entry.name} is encrypted or packed by method {entry.method}")
        packed = self._source.read_at(self.data_offset(entry), entry.packed)
        content = packed if entry.method == STORED else _inflate(entry, packed)
        if len(content) != entry.size or zlib.crc32(content) != entry.crc:
            raise ArchiveError(
                f"{entry.name} is damaged: its size or checksum is not what the directory says"
            )
        return content

    def data_offset(self, entry: Entry) -> int:
        """Where the entry's packed bytes begin."""
        header = self.local_header(entry)
        return self.base + entry.offset + len(header)

    def local_header(self, entry: Entry) -> bytes:
        """The entry's local record, with name and extra fields."""
        at = self.base + entry.offset
        head = self._source.read_at(at, LOCAL.size)
        if len(head) < LOCAL.size or head[:4] != LOCAL_MAGIC:
            raise ArchiveError(f"{entry.name} is not where the directory says")
        *_, name_length, extra_length = LOCAL.unpack(head)
        return head + self._source.read_at(at + LOCAL.size, name_length + extra_length)

    def region(self, entry: Entry) -> tuple[int, int]:
        """Everything of the entry in the file: local record, content, what follows up to the next entry."""
        begin = self.base + entry.offset
        return begin, self._next[entry.offset] + self.base

    def chunks(self, begin: int, end: int) -> Iterator[bytes]:
        """The bytes of the file from `begin` to `end`."""
        while begin < end:
            chunk = self._source.read_at(begin, min(_CHUNK, end - begin))
            if not chunk:
                raise ArchiveError(f"{self.name} became shorter while it was read")
            begin += len(chunk)
            yield chunk

    def _read(self) -> None:
        tail_at = max(0, self._source.size - END.size - _LONGEST_COMMENT)
        tail = self._source.read_at(tail_at, END.size + _LONGEST_COMMENT)
        found = tail.rfind(END_MAGIC)
        if found < 0 or len(tail) - found < END.size:
            raise ArchiveError("this is no zip archive, or it is cut short")
        end_at = tail_at + found
        count, size, offset, directory_end = self._end(end_at, END.unpack_from(tail, found))
        self.comment = tail[found + END.size :]
        self.base = directory_end - size - offset
        if self.base < 0 or size > directory_end:
            raise ArchiveError("the archive's directory is not where its end says")
        self.entries = self._parse(self._source.read_at(directory_end - size, size), count)
        self._order(offset)

    def _end(self, end_at: int, end: tuple[int, ...]) -> tuple[int, int, int, int]:
        """Number of entries, size and offset of the directory, and where it ends."""
        count, size, offset = end[4], end[5], end[6]
        if count != MAX_16 and MAX_32 not in (size, offset):
            return count, size, offset, end_at
        raw = self._source.read_at(end_at - LOCATOR_64.size, LOCATOR_64.size)
        if end_at < LOCATOR_64.size or raw[:4] != LOCATOR_64_MAGIC:
            return count, size, offset, end_at
        record_at = end_at - LOCATOR_64.size - END_64.size
        record = self._source.read_at(max(record_at, 0), END_64.size)
        if record_at < 0 or record[:4] != END_64_MAGIC:
            raise ArchiveError("the archive's zip64 directory is not where it should be")
        fields = END_64.unpack(record)
        return fields[7], fields[8], fields[9], record_at

    def _parse(self, directory: bytes, count: int) -> list[Entry]:
        entries = []
        at = 0
        while directory[at : at + 4] == CENTRAL_MAGIC:
            entry, at = parse_central(directory, at)
            check_name(entry.name)
            entries.append(entry)
        if (len(entries) - count) & MAX_16:  # without zip64 some tools let the number wrap around
            raise ArchiveError(f"the archive's directory has {len(entries)} entries instead of {count}")
        return entries

    def _order(self, directory_offset: int) -> None:
        """Finds where each entry ends: at the next one. Entries that overlap are a trick to explode.

        Some build tools list an entry twice; then both records must say the same.
        """
        by_offset: dict[int, Entry] = {}
        for entry in self.entries:
            twin = by_offset.setdefault(entry.offset, entry)
            if (twin.name, twin.packed, twin.size, twin.crc) != (
                entry.name,
                entry.packed,
                entry.size,
                entry.crc,
            ):
                raise ArchiveError(f"{entry.name} and {twin.name} share their content: taken for a zip bomb")
        self.distinct = [by_offset[offset] for offset in sorted(by_offset)]
        self._next = {}
        for entry, end in zip(self.distinct, [*sorted(by_offset)[1:], directory_offset], strict=True):
            if entry.offset + LOCAL.size + entry.packed > end:
                raise ArchiveError(f"{entry.name} overlaps what comes after it: taken for a zip bomb")
            self._next[entry.offset] = end
        self.prefix_end = self.base + (self.distinct[0].offset if self.distinct else directory_offset)


def _inflate(entry: Entry, packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        return unpacker.decompress(packed, entry.size + 1)
    except zlib.error as error:
        raise ArchiveError(f"{entry.name} is damaged: {error}") from error
