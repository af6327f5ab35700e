"""CPython's own tests of threads as the recorded program: they find what they find unrecorded."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.record.recordings import UNJANK

_FAILED = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", re.MULTILINE)
_RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)


def _has_suite(name: str) -> bool:
    return importlib.util.find_spec("test") is not None and importlib.util.find_spec(name) is not None


def _outcome(*command: str, folder: Path) -> tuple[str, Sequence[str]]:
    """How many tests ran, and which failed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    ran = _RAN.search(done.stderr)
    assert ran is not None, done.stderr
    return ran.group(1), sorted(_FAILED.findall(done.stderr))


@pytest.mark.parametrize("suite", ["test.test_threading", "test.test_queue"])
def test_cpythons_suites_do_not_notice(suite: str, tmp_path: Path) -> None:
    """The same number of tests runs, and those fail that fail without recording: none, on most machines."""
    if not _has_suite(suite):
        pytest.skip("this Python comes without its own tests (Debian: libpython3-testsuite)")
    module = ("-m", "unittest", "-q", suite)
    trace = tmp_path / "out.pftrace"
    recorded = _outcome(UNJANK, "run", "--sched", "off", "-o", str(trace), *module, folder=tmp_path)
    if recorded[1]:
        assert recorded == _outcome(sys.executable, *module, folder=tmp_path)
    assert int(recorded[0]) > 20
    assert trace.stat().st_size > 10_000
