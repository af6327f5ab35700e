"""Parts in processes of their own."""

import os

import pytest

from unjank import UnjankError
from unjank.bench import Progress, Report, Scale
from unjank.bench._isolate import run_parts
from unjank.bench.queue import idle


def test_a_part_runs_elsewhere_and_reports_here() -> None:
    """Its report and its progress arrive, and only the part asked for runs."""
    said: list[str] = []
    report = run_parts({"idle": idle.measure, "other": _never}, Scale.quick(), said.append, ["idle"])
    assert report.ratios.keys() == {"idle_cpu_share"}
    assert said == ["idle looper"]


def _never(report: Report, scale: Scale, progress: Progress) -> None:
    raise AssertionError(f"ran in {os.getpid()}")


def test_a_part_that_dies_is_an_error_and_no_empty_report(capfd: pytest.CaptureFixture[str]) -> None:
    """The error names the part; the cause is on stderr."""
    with pytest.raises(UnjankError, match="the part growth died with exit code 1"):
        run_parts({"growth": _never}, Scale.quick(), print)
    assert "Traceback" in capfd.readouterr().err
