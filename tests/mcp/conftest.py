"""What the tests of the MCP server share."""

from pathlib import Path

import pytest
from tests.findings.builder import MS, TraceBuilder


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace with one wait for a lock."""
    built = TraceBuilder()
    built.contention(built.thread(100, 101, "ui"), built.thread(100, 102, "owner"), 10 * MS, 40 * MS)
    path = tmp_path / "wait.pftrace"
    path.write_bytes(built.data())
    return path
