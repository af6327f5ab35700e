"""Of a cut-off trace, whatever its format, what came before the cut is shown, with a note."""

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjank import TraceError, TraceProcessor
from unjank.trace.framing import read_varint
from unjank.trace.salvage import salvage
from unjank.trace.salvage_art import salvage_art
from unjank.trace.source import FileSource


def _slices(tmp_path: Path, data: bytes) -> tuple[int, list[str]]:
    """Number of slices in the trace, and its notes about being cut off."""
    path = tmp_path / "cut"
    path.write_bytes(data)
    with TraceProcessor(path) as tp:
        (row,) = tp.rows("SELECT COUNT(*) AS n FROM slice")
        count = row["n"]
    assert isinstance(count, int)
    return count, [note for note in tp.notes if "cut off" in note]


def test_protobuf(tmp_path: Path, api32_trace: Path) -> None:
    """Half of the API 32 trace has 5,188 of 9,887 slices, and the note counts the packets."""
    count, notes = _slices(tmp_path, api32_trace.read_bytes()[:1_000_001])
    assert count == 5188
    assert notes == ["the trace is cut off in the middle of a packet; the 48 packets before it are shown"]


def test_whole_protobuf_has_no_note(tmp_path: Path, api32_trace: Path) -> None:
    """A whole trace is not called cut off."""
    assert _slices(tmp_path, api32_trace.read_bytes()) == (9887, [])


@pytest.mark.parametrize("size", [300_000, 100_000])
def test_gzip_of_protobuf(tmp_path: Path, api32_trace: Path, size: int) -> None:
    """A gzip file that breaks off is unpacked as far as it goes."""
    count, notes = _slices(tmp_path, gzip.compress(api32_trace.read_bytes())[:size])
    assert 0 < count < 9887
    assert notes == ["the compressed trace is cut off or damaged; what can be read is shown"]


def test_damaged_gzip(tmp_path: Path, api32_trace: Path) -> None:
    """Bad bytes in the middle of a gzip file cost what comes after them."""
    data = bytearray(gzip.compress(api32_trace.read_bytes()))
    data[300_000:300_010] = b"\xff" * 10
    count, notes = _slices(tmp_path, bytes(data))
    assert 5000 < count < 9887
    assert notes == ["the compressed trace is cut off or damaged; what can be read is shown"]


def test_damaged_protobuf(tmp_path: Path, api32_trace: Path) -> None:
    """Where the packets stop making sense, those before are shown."""
    path = tmp_path / "damaged"
    path.write_bytes(api32_trace.read_bytes()[:1_000_001] + b"\xff" * 1_000_000)
    with TraceProcessor(path) as tp:
        assert tp.rows("SELECT COUNT(*) > 5000 AS most FROM slice") == [{"most": 1}]
    assert "the trace is damaged in 2 places; what can be read is shown" in tp.notes


def test_damage_within_a_packet(tmp_path: Path, api32_trace: Path) -> None:
    """One packet that can't be read costs that packet only."""
    data = bytearray(api32_trace.read_bytes())
    # The first packet that is longer than 10,000 bytes: its tag, two-byte length, then fields.
    at = next(at for at in _packet_starts(data) if _length(data, at) > 10_000)
    data[at + 4] = 0x07  # wire type 7 does not exist
    path = tmp_path / "damaged"
    path.write_bytes(data)
    with TraceProcessor(path) as tp:
        assert tp.rows("SELECT COUNT(*) BETWEEN 9000 AND 9886 AS most FROM slice") == [{"most": 1}]
    assert "the trace is damaged in one place; what can be read is shown" in tp.notes


def _length(data: bytes | bytearray, at: int) -> int:
    return read_varint(bytes(data[at : at + 12]), 1)[0]


def _packet_starts(data: bytes | bytearray) -> Iterator[int]:
    at = 0
    while at < len(data):
        yield at
        length, body = read_varint(bytes(data[at : at + 12]), 1)
        at += body + length


@pytest.mark.parametrize("name", ["python_viztracer_multithread.json", "chrome_simple.json"])
def test_json(tmp_path: Path, traces_dir: Path, name: str) -> None:
    """Chrome's and viztracer's JSON lose the incomplete event only."""
    data = (traces_dir / name).read_bytes()
    whole, _ = _slices(tmp_path, data)
    count, notes = _slices(tmp_path, data[: len(data) // 2])
    assert 0 < count <= whole
    assert notes == ["the JSON trace is cut off; what can be read is shown"]


def test_gzip_of_json(tmp_path: Path, traces_dir: Path) -> None:
    """JSON in a gzip file that breaks off is mended too."""
    packed = gzip.compress((traces_dir / "python_viztracer_multithread.json").read_bytes())
    count, notes = _slices(tmp_path, packed[: len(packed) // 2])
    assert count > 0
    assert len(notes) == 1


def test_zip(tmp_path: Path, traces_dir: Path) -> None:
    """A zip file without its end has 8 of 16 slices, where the engine itself would show none."""
    count, notes = _slices(tmp_path, (traces_dir / "chrome_simple.zip").read_bytes()[:400])
    assert count == 8
    assert notes == ["the zip file is cut off or damaged; what can be read is shown"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_of_several(tmp_path: Path, traces_dir: Path, api32_trace: Path, method: int) -> None:
    """Of a zip file with two traces that breaks off in the second, both are shown."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.write(api32_trace, "one.pftrace")
        archive.write(traces_dir / "python_viztracer_multithread.json", "two.json")
    size = packed.getbuffer().nbytes
    count, notes = _slices(tmp_path, packed.getvalue()[: size - 4000])
    assert count > 9887
    assert len(notes) == 1


@pytest.mark.parametrize(("name", "whole"), [("streaming", 19885), ("regular", 6777)])
def test_art_method_trace(tmp_path: Path, traces_dir: Path, name: str, whole: int) -> None:
    """An ART method trace loses the incomplete record only, packed or not."""
    packed = (traces_dir / f"art_method_{name}.trace.gz").read_bytes()
    data = gzip.decompress(packed)
    assert _slices(tmp_path, data) == (whole, [])
    count, notes = _slices(tmp_path, data[: len(data) * 4 // 5])
    assert 0 < count < whole
    assert notes == ["the ART method trace is cut off; what can be read is shown"]
    count, notes = _slices(tmp_path, packed[: len(packed) * 9 // 10])
    assert 0 < count < whole
    assert notes == ["the compressed trace is cut off or damaged; what can be read is shown"]


@pytest.mark.parametrize(
    "data",
    [
        b'{"traceEvents": [{"na',
        b"SLOW\xf3\x00",
        gzip.compress(b"nothing like a trace")[:-9],
        b"PK\x03\x04abc",
    ],
    ids=["json", "art", "gzip", "zip"],
)
def test_nothing_to_save(tmp_path: Path, data: bytes) -> None:
    """Where the cut is before the first event, the error is the engine's, with the file's name."""
    path = tmp_path / "stub"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=str(path)):
        TraceProcessor(path)


def test_trace_that_is_refused_for_another_reason(traces_dir: Path) -> None:
    """Nothing is made up for a JSON file that is whole but wrong."""
    assert salvage(FileSource(traces_dir / "bad_system_trace_events.json")) is None


_EVENT = st.fixed_dictionaries(
    {
        "name": st.text(max_size=8),
        "ts": st.integers(0, 9),
        "args": st.dictionaries(st.text(max_size=3), st.lists(st.text(max_size=3), max_size=2), max_size=2),
    }
)


@given(events=st.lists(_EVENT, min_size=1, max_size=5), bare=st.booleans(), data=st.data())
def test_mended_json_is_a_prefix(
    tmp_path_factory: pytest.TempPathFactory, events: list[object], bare: bool, data: st.DataObject
) -> None:
    """Cut anywhere, a JSON trace is mended to valid JSON with exactly the events that were whole."""
    text = json.dumps(events if bare else {"meta": {"cpus": [1, 2]}, "traceEvents": events}).encode()
    path = tmp_path_factory.mktemp("json") / "trace.json"
    path.write_bytes(text[: data.draw(st.integers(1, len(text) - 1))])
    saved = salvage(FileSource(path))
    if saved is not None:
        mended = json.loads(b"".join(saved.chunks))
        kept = mended if bare else mended["traceEvents"]
        assert kept == events[: len(kept)]
        assert kept


def test_art_records_of_a_streamed_trace() -> None:
    """A description of a method that breaks off is dropped, and a summary is put in its place."""
    header = b"SLOW\xf3\x00" + (32).to_bytes(2, "little") + bytes(8) + (14).to_bytes(2, "little") + bytes(14)
    method = b"\0\0\1\5\0abcde"
    event = b"\7\0" + bytes(12)
    saved = salvage_art(header + method + event + method[:-1])
    assert saved is not None
    kept, _, summary = saved.partition(b"\0\0\3")
    assert kept == header + method + event
    assert summary[4:].startswith(b"*version\n3\nclock=dual\n")
    assert summary.endswith(b"*end\n")
