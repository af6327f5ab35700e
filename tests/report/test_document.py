"""The report as JSON."""

import io
import json
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.findings import Finding, FindingSet, Severity
from unjank.report import document, write_document

FOUND = FindingSet.ranked(
    [
        Finding(
            kind="lock-contention",
            severity=Severity.LOW,
            process=None,
            thread="\x1b[31m µ \ud800",
            owner=None,
            where=None,
            owner_where=None,
            ts_ns=2**62,
            dur_ns=45_532,
            count=1,
            advice="",
            detail={"total_ns": 45_532, "lock": "L"},
        )
    ],
    ["one note"],
)


def test_contract() -> None:
    """The object has the members of the contract, and exact integers."""
    content = json.loads(json.dumps(document(FOUND, trace="a b.pftrace", engine="wasm")))
    assert content == {
        "schema": "unjank.report/1",
        "trace": "a b.pftrace",
        "engine": "wasm",
        "findings": [
            {
                "kind": "lock-contention",
                "severity": "low",
                "process": None,
                "thread": "\x1b[31m µ \ud800",
                "owner": None,
                "where": None,
                "owner_where": None,
                "ts_ns": 2**62,
                "dur_ns": 45_532,
                "count": 1,
                "detail": {"total_ns": 45_532, "lock": "L"},
                "advice": "",
            }
        ],
        "notes": ["one note"],
    }


def test_any_name_can_be_written(tmp_path: Path) -> None:
    """Names that no encoding can write, and control characters, are escaped."""
    target = tmp_path / "report.json"
    write_document(document(FOUND, trace="t", engine="wasm"), target)
    text = target.read_text(encoding="ascii")
    assert "\x1b" not in text
    assert json.loads(text)["findings"][0]["thread"] == "\x1b[31m µ \ud800"


def test_stream() -> None:
    """An open stream gets the object and a line end."""
    out = io.StringIO()
    write_document({"schema": "x"}, out)
    assert out.getvalue() == '{\n  "schema": "x"\n}\n'


def test_unwritable_file(tmp_path: Path) -> None:
    """A file that cannot be written is one clear line."""
    with pytest.raises(UnjankError, match=r"cannot write .*missing.report\.json: No such file or directory"):
        write_document({}, tmp_path / "missing" / "report.json")
