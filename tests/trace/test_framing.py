"""Whether a protobuf trace ends inside a packet is known however the pieces fall."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unjank.trace.framing import PacketFraming


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _trace(sizes: list[int]) -> tuple[bytes, list[int]]:
    """A trace of packets of these sizes, and where each of them ends."""
    data, ends = b"", [0]
    for size in sizes:
        data += b"\x0a" + _varint(size) + bytes(size)
        ends.append(len(data))
    return data, ends


@given(st.lists(st.integers(0, 400), max_size=12), st.data())
def test_cut_off_exactly_between_packets(sizes: list[int], data: st.DataObject) -> None:
    """For each place to cut and way to split: cut off unless at a packet's end, and packets counted."""
    trace, ends = _trace(sizes)
    cut = data.draw(st.integers(0, len(trace)))
    splits = sorted(data.draw(st.lists(st.integers(0, cut), max_size=6)))
    framing = PacketFraming()
    for start, end in zip([0, *splits], [*splits, cut], strict=True):
        framing.feed(trace[start:end])
    assert framing.is_proto
    assert framing.cut_off == (cut not in ends)
    assert framing.packets == sum(end <= cut for end in ends[1:])


def test_real_trace_is_whole(api32_trace: Path) -> None:
    """The API 32 trace has 269 packets and is not cut off; without its last three bytes it is."""
    whole, cut = PacketFraming(), PacketFraming()
    whole.feed(api32_trace.read_bytes())
    cut.feed(api32_trace.read_bytes()[:-3])
    assert (whole.packets, whole.cut_off) == (269, False)
    assert (cut.packets, cut.cut_off) == (268, True)


def test_other_formats_are_never_cut_off() -> None:
    """What does not look like packets is left alone, even where a part of it would."""
    framing = PacketFraming()
    framing.feed(b'{"traceEvents": [')
    framing.feed(b"\x0a\xff")
    assert not framing.is_proto
    assert not framing.cut_off


def test_endless_varint_is_no_packet() -> None:
    """A length of more than ten bytes is no length."""
    framing = PacketFraming()
    framing.feed(b"\x0a" + b"\xff" * 20)
    assert not framing.is_proto
