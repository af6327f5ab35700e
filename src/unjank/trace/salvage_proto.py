"""Saves the readable packets of a damaged protobuf trace, which the engine refuses at the first bad one."""

from collections.abc import Iterator

from unjank.trace.framing import PACKET_TAG, read_varint

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


def salvage_packets(data: bytes) -> tuple[bytes, int] | None:
    """The trace without the packets that can't be read, and how many those were.

    What follows the place where packets stop making sense counts as one. None where nothing is wrong with
    the packets, or none is good.
    """
    good, bad, reached = [], 0, 0
    for start, body, end in _packets(data):
        # The last packet may be cut off: the engine leaves it out by itself.
        if end > len(data) or _fields_end(data, body, end) == end:
            good.append(data[start:end])
        else:
            bad += 1
        reached = end
    bad += reached < len(data)
    return (b"".join(good), bad) if good and bad else None


def _packets(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Where each packet's tag, body and end are, up to where no packet starts."""
    at = 0
    while data.startswith(PACKET_TAG, at):
        length, body = read_varint(data, at + 1)
        if body < 0:
            return
        yield at, body, body + length
        at = body + length


def _fields_end(data: bytes, at: int, end: int) -> int:
    """Steps over a message's fields; its end if they are well formed, otherwise another number."""
    while 0 <= at < end:
        key, at = read_varint(data, at)
        kind = key & 7
        if at < 0 or key >> 3 == 0:
            return -1
        if kind in _FIXED_SIZES:
            at += _FIXED_SIZES[kind]
        elif kind == _LENGTH:
            length, at = read_varint(data, at)
            at = at + length if at >= 0 else -1
        elif kind == _VARINT:
            _, at = read_varint(data, at)
        else:
            return -1
    return at
