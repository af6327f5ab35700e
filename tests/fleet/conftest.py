"""Fixtures of the fleet's tests."""

from pathlib import Path

import pytest
from tests.fleet.small_traces import write_traces


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of six traces, of which the one with number N has N slices."""
    traces = tmp_path / "traces"
    write_traces(traces, 6)
    return traces
