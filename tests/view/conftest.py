"""A small trace, and the server that shows it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.findings.builder import MS, TraceBuilder

from unjank.view import ServedTrace, serve_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """One thread that waits for another; its file's name needs quoting in a URL."""
    builder = TraceBuilder()
    builder.process(100, "launcher.py")
    waiter, owner = builder.thread(100, 101, "waiting one"), builder.thread(100, 102, "holding one")
    builder.contention(waiter, owner, 1 * MS, 21 * MS)
    path = tmp_path / "a trace & more?.pftrace"
    path.write_bytes(builder.data())
    return path


@pytest.fixture
def served(trace: Path) -> Iterator[ServedTrace]:
    """The trace on any free port."""
    with serve_trace(trace, port=0) as served:
        yield served
