"""Follows the packet framing of a protobuf trace, to tell whether its last packet is whole.

The engine drops an incomplete last packet without a word, so this is the only way to know.
"""

PACKET_TAG = b"\x0a"  # field 1, length-delimited: Trace.packet
_LONGEST_HEADER = 11  # tag and a varint of at most ten bytes


class PacketFraming:
    """Fed with a trace in pieces of any size, tells whether it ends inside a packet.

    Attributes:
        is_proto: whether everything so far looked like a protobuf trace.
    """

    def __init__(self) -> None:
        self._begun = 0  # packets whose header was seen
        self.is_proto = True
        self._skip = 0  # bytes of the current packet that are still to come
        self._header = b""  # a header cut off by the end of a piece

    def feed(self, data: bytes) -> None:
        """Follows the next piece."""
        if not self.is_proto:
            return
        if self._skip >= len(data):
            self._skip -= len(data)
            return
        self._follow(self._header + data[self._skip :])

    @property
    def packets(self) -> int:
        """Packets seen whole."""
        return self._begun - (self._skip > 0)

    @property
    def cut_off(self) -> bool:
        """Whether the trace fed so far ends in the middle of a packet."""
        return self.is_proto and bool(self._skip or self._header)

    def _follow(self, data: bytes) -> None:
        at, packets, self.is_proto = _walk(data)
        self._begun += packets
        self._skip = max(at - len(data), 0)
        self._header = data[at:] if self.is_proto else b""


def _walk(data: bytes) -> tuple[int, int, bool]:
    """Steps from packet to packet.

    Returns:
        Where the next packet would start, which may be beyond the data; how many headers were read; and
        whether the rest can still be the start of a header.
    """
    at, end, packets = 0, len(data), 0
    while at < end:
        if data[at] != PACKET_TAG[0]:
            return at, packets, False
        length, body = data[at + 1] if at + 1 < end else 0x80, at + 2
        if length >= 0x80:  # most packets of some traces are short, so the loop is made for those
            length, body = read_varint(data, at + 1)
            if body < 0:
                return at, packets, end - at < _LONGEST_HEADER
        at = body + length
        packets += 1
    return at, packets, True


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A protobuf varint: its value and the position behind it, which is -1 where the data ends too soon."""
    value = shift = 0
    for position in range(at, min(at + 10, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position + 1
        shift += 7
    return 0, -1
