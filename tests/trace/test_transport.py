"""Messages that the engine hands over in pieces."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unjank.trace import TraceProcessor
from unjank.trace.transport import MessageAssembler


def message(content: bytes) -> bytes:
    """One message of a stream: the tag of field 1, the length as a varint, the content."""
    length, size = b"", len(content)
    while size >= 0x80:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return b"\x0a" + length + bytes([size]) + content


@given(st.lists(st.binary(max_size=400), max_size=6), st.lists(st.integers(1, 200), max_size=40))
def test_whole_messages_whatever_the_pieces(contents: list[bytes], sizes: list[int]) -> None:
    """However the stream is cut, only whole messages arrive, in order and none lost."""
    messages = [message(content) for content in contents]
    stream, arrived = b"".join(messages), list[bytes]()
    assembler = MessageAssembler(arrived.append)
    for size in [*sizes, len(stream)]:
        assembler.feed(stream[:size])
        stream = stream[size:]
    assert b"".join(arrived) == b"".join(messages)
    ends = {sum(map(len, messages[: index + 1])) for index in range(len(messages))}
    at = 0
    for part in arrived:
        at += len(part)
        assert at in ends


def test_large_numbers_in_many_rows(api32_trace: Path) -> None:
    """A batch of rows larger than the engine's output buffer comes whole, to the last row."""
    sql = "WITH RECURSIVE n(x) AS (SELECT {first} UNION ALL SELECT x + 1 FROM n LIMIT 100000) SELECT x FROM n"
    first = 1 << 56
    with TraceProcessor(api32_trace) as tp:
        rows = tp.rows(sql.format(first=first))
    assert [row["x"] for row in rows] == list(range(first, first + 100_000))


def test_one_long_text(api32_trace: Path) -> None:
    """A cell of several megabytes comes whole."""
    with TraceProcessor(api32_trace) as tp:
        (row,) = tp.rows("SELECT printf('%.*c', 5000000, 'x') AS text")
    assert row["text"] == "x" * 5_000_000
