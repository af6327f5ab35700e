"""The records of a zip file (APPNOTE 4.3, 4.5.3), as far as copying and adding entries needs them."""

from dataclasses import dataclass
from struct import Struct, pack, unpack_from

from unjank.jvm.errors import ArchiveError

LOCAL = Struct("<4s5H3I2H")
CENTRAL = Struct("<4s6H3I5H2I")
END = Struct("<4s4H2IH")
END_64 = Struct("<4sQ2H2I4Q")
LOCATOR_64 = Struct("<4sIQI")
LOCAL_MAGIC, CENTRAL_MAGIC, END_MAGIC = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
END_64_MAGIC, LOCATOR_64_MAGIC = b"PK\x06\x06", b"PK\x06\x07"
STORED, DEFLATED = 0, 8
ENCRYPTED, DESCRIPTOR_FOLLOWS, UTF8_NAME = 0x1, 0x8, 0x800
MAX_16, MAX_32 = 0xFFFF, 0xFFFFFFFF
_ZIP64_EXTRA = 1
_OFFSET_AT = 42


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as the central directory has it; `central` are its bytes there."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    central: bytes

    @property
    def is_folder(self) -> bool:
        """True for an entry that only stands for a folder."""
        return self.name.endswith("/")

    @property
    def timestamp(self) -> tuple[int, int]:
        """Time and date as MS-DOS words."""
        time, date = unpack_from("<HH", self.central, 12)
        return time, date


def parse_central(data: bytes, at: int) -> tuple[Entry, int]:
    """The entry whose central record begins at `at`, and where the next begins.

    Raises:
        ArchiveError: It is no such record, or cut short.
    """
    if len(data) - at < CENTRAL.size or data[at : at + 4] != CENTRAL_MAGIC:
        raise ArchiveError("the archive's directory is cut short or damaged")
    fields = CENTRAL.unpack_from(data, at)
    flags, method, crc, packed, size = fields[3], fields[4], *fields[7:10]
    name_length, extra_length, comment_length, offset = *fields[10:13], fields[16]
    name_at = at + CENTRAL.size
    end = name_at + name_length + extra_length + comment_length
    if end > len(data):
        raise ArchiveError("the archive's directory is cut short")
    raw_name = data[name_at : name_at + name_length]
    if MAX_32 in (size, packed, offset):
        extra = data[name_at + name_length : name_at + name_length + extra_length]
        size, packed, offset = _zip64_values(extra, size, packed, offset)
    name = raw_name.decode("utf-8" if flags & UTF8_NAME or raw_name.isascii() else "cp437", "surrogateescape")
    return Entry(name, flags, method, crc, packed, size, offset, data[at:end]), end


def moved(entry: Entry, offset: int) -> bytes:
    """The entry's central record with another place of its local record."""
    record = bytearray(entry.central)
    (stored,) = unpack_from("<I", record, _OFFSET_AT)
    if stored != MAX_32:
        record[_OFFSET_AT : _OFFSET_AT + 4] = pack("<I", offset)
        return bytes(record)
    name_length, extra_length = unpack_from("<HH", record, 28)
    packed, size = unpack_from("<II", record, 20)
    begin = CENTRAL.size + name_length
    at = (
        begin
        + _zip64_at(bytes(record[begin : begin + extra_length]))
        + 8 * ((packed == MAX_32) + (size == MAX_32))
    )
    record[at : at + 8] = pack("<Q", offset)
    return bytes(record)


def replaced(
    entry: Entry, extra_of_local: bytes, crc: int, packed: int, size: int, offset: int
) -> tuple[bytes, bytes]:
    """Local and central record of an entry with new content; time, permissions and other extras stay."""
    fields = list(CENTRAL.unpack_from(entry.central))
    name_end = CENTRAL.size + fields[10]
    extra_end = name_end + fields[11]
    name = entry.central[CENTRAL.size : name_end]
    extra, extra_of_local = without_zip64(entry.central[name_end:extra_end]), without_zip64(extra_of_local)
    fields[3] &= ~DESCRIPTOR_FOLLOWS
    fields[7:10] = [crc, packed, size]
    fields[11], fields[16] = len(extra), offset
    local = LOCAL.pack(LOCAL_MAGIC, *fields[2:10], len(name), len(extra_of_local)) + name + extra_of_local
    return local, CENTRAL.pack(*fields) + name + extra + entry.central[extra_end:]


def local_extra(header: bytes) -> bytes:
    """The extra fields of a local record."""
    name_length = LOCAL.unpack_from(header)[9]
    return header[LOCAL.size + name_length :]


def fresh(
    name: str, timestamp: tuple[int, int], packed: int, size: int, crc: int, offset: int
) -> tuple[bytes, bytes]:
    """Local and central record of a new, deflated entry."""
    raw = name.encode()
    flags = 0 if raw.isascii() else UTF8_NAME
    shared = (20, flags, DEFLATED, *timestamp, crc, packed, size, len(raw), 0)
    local = LOCAL.pack(LOCAL_MAGIC, *shared)
    return local + raw, CENTRAL.pack(CENTRAL_MAGIC, 20, *shared, 0, 0, 0, 0, offset) + raw


def without_zip64(extra: bytes) -> bytes:
    """Extra fields but for the zip64 one, whose sizes would no longer be true."""
    kept, at = b"", 0
    while at + 4 <= len(extra):
        kind, length = unpack_from("<HH", extra, at)
        if kind != _ZIP64_EXTRA:
            kept += extra[at : at + 4 + length]
        at += 4 + length
    return kept + extra[at:]


def _zip64_at(extra: bytes) -> int:
    at = 0
    while at + 4 <= len(extra):
        kind, length = unpack_from("<HH", extra, at)
        if kind == _ZIP64_EXTRA:
            return at + 4
        at += 4 + length
    raise ArchiveError("an entry's zip64 sizes are missing")


def _zip64_values(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    at = _zip64_at(extra)
    values = []
    for value in (size, packed, offset):
        if value == MAX_32:
            if at + 8 > len(extra):
                raise ArchiveError("an entry's zip64 sizes are cut short")
            (value,) = unpack_from("<Q", extra, at)
            at += 8
        values.append(value)
    return values[0], values[1], values[2]
