"""Saves the whole records of a cut-off ART method trace.

Two layouts (art/runtime/trace.cc of AOSP). Both have a binary header: magic "SLOW", u16 version, u16 offset
of the records from the magic, u64 start time, u16 record size (from version 3 on). Version 0xF0 and above
is streamed: records mix with descriptions of methods and threads, and a summary ends the trace. Otherwise a
text section that ends in "*end" comes first, and the records follow the header up to the end of the file.
"""

import struct

_MAGIC = b"SLOW"
_TEXT_START, _TEXT_END = b"*version", b"*end\n"
_HEADER = struct.Struct("<4sHHQ")
_STREAMED = 0xF0
_RECORD_SIZES = {1: 9, 2: 10}  # version 1 has 8-bit thread ids; later ones tell the size in the header
_NEW_METHOD, _NEW_THREAD, _SUMMARY = 1, 2, 3
_BOTH_CLOCKS_SIZE = 14  # thread id, method, and two times of 32 bits


def salvage_art(data: bytes) -> bytes | None:
    """The trace up to its last whole record; None where it is no ART method trace, or has no record."""
    start = _header_start(data)
    if start < 0 or len(data) < start + _HEADER.size + 2:
        return None
    _, version, offset, _ = _HEADER.unpack_from(data, start)
    size = _record_size(data, start, version & ~_STREAMED)
    first = start + offset
    if size < 9 or first > len(data):
        return None
    if version & _STREAMED:
        return data[: _end_of_streamed(data, first, size)] + _summary(size)
    return data[: first + (len(data) - first) // size * size]


def _header_start(data: bytes) -> int:
    if data.startswith(_MAGIC):
        return 0
    if not data.startswith(_TEXT_START):
        return -1
    end = data.find(_TEXT_END)
    start = end + len(_TEXT_END)
    return start if end >= 0 and data.startswith(_MAGIC, start) else -1


def _record_size(data: bytes, start: int, version: int) -> int:
    if version in _RECORD_SIZES:
        return _RECORD_SIZES[version]
    return int.from_bytes(data[start + _HEADER.size : start + _HEADER.size + 2], "little")


def _summary(record_size: int) -> bytes:
    """The least that the engine takes for the end of a streamed trace."""
    clock = b"dual" if record_size >= _BOTH_CLOCKS_SIZE else b"wall"
    text = _TEXT_START + b"\n3\nclock=" + clock + b"\n*threads\n*methods\n" + _TEXT_END
    return struct.pack("<HBI", 0, _SUMMARY, len(text)) + text


def _end_of_streamed(data: bytes, at: int, size: int) -> int:
    """Where the last whole record ends; a summary, whole or not, is left out."""
    while True:
        length = _streamed_length(data, at, size)
        if length == 0 or at + length > len(data):
            return at
        at += length


def _streamed_length(data: bytes, at: int, size: int) -> int:
    """Bytes of the record at that place; 0 for a summary, and where not even its length can be read."""
    if data[at : at + 2] != b"\0\0":
        return size
    operation = data[at + 2 : at + 3]
    length_at = {_NEW_METHOD: at + 3, _NEW_THREAD: at + 5}.get(operation[0] if operation else 0)
    if length_at is None or length_at + 2 > len(data):
        return 0
    return length_at + 2 - at + int.from_bytes(data[length_at : length_at + 2], "little")
