"""Ctrl-C while `unjank run` makes its report."""

from pathlib import Path

import pytest

import unjank.report
from unjank.cli import run


def _interrupted(*_arguments: object, **_options: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_ends_the_report_not_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told how to have the report later, and the program's exit code still counts."""
    monkeypatch.setattr(unjank.report, "report_trace", _interrupted)
    run._report(Path("my run.pftrace"), None, None)
    told = capsys.readouterr().err
    assert "unjank report 'my run.pftrace'" in told
    assert "the trace is in my run.pftrace" in told
