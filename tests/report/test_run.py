"""From a file to a report in one call."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.findings.builder import MS, TraceBuilder

from unjank import TraceError
from unjank.report import report_trace


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """A trace with one wait."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 1 * MS, 21 * MS)
    path = tmp_path / "one.pftrace"
    path.write_bytes(trace.data())
    return path


def test_console_and_json_at_once(trace_file: Path, tmp_path: Path) -> None:
    """People and programs get the same findings from one reading of the trace."""
    out, target = io.StringIO(), tmp_path / "report.json"
    found = report_trace(trace_file, console=Console(file=out, width=80), json_path=target)
    content = json.loads(target.read_text())
    assert [finding.to_dict() for finding in found.findings] == content["findings"]
    assert (content["trace"], content["engine"]) == (str(trace_file), "wasm")
    assert "waiter (app.py) waited 20 ms for Ledger._lock (bank.py:4), held by owner" in " ".join(
        out.getvalue().split()
    )


def test_neither(trace_file: Path) -> None:
    """Without a console and a file the findings are returned all the same."""
    assert [finding.kind for finding in report_trace(trace_file).findings] == ["lock-contention"]


def test_unreadable_trace(tmp_path: Path) -> None:
    """A file that is no trace raises before anything is written."""
    trace, target = tmp_path / "noise.bin", tmp_path / "report.json"
    trace.write_bytes(b"no trace at all" * 100)
    with pytest.raises(TraceError, match=r"noise\.bin"):
        report_trace(trace, json_path=target)
    assert not target.exists()


def test_truncated_trace_is_reported_with_a_note(trace_file: Path) -> None:
    """What a cut file still holds is reported, and that it was cut comes first in the notes."""
    data = trace_file.read_bytes()
    trace_file.write_bytes(data[:-3])
    found = report_trace(trace_file)
    assert "cut off" in found.notes[0]
    assert [finding.kind for finding in found.findings] == ["lock-contention"]
