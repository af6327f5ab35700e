"""What the tests of findings share."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.findings.builder import TraceBuilder

from unjank.findings import FindingSet, find_all
from unjank.trace import TraceProcessor

Find = Callable[[TraceBuilder | Path], FindingSet]
Load = Callable[[TraceBuilder | Path], TraceProcessor]


@pytest.fixture
def load() -> Iterator[Load]:
    """Opens a trace that was built or lies in a file; closed after the test."""
    with ExitStack() as opened:

        def open_trace(trace: TraceBuilder | Path) -> TraceProcessor:
            source = trace.data() if isinstance(trace, TraceBuilder) else trace
            tp = TraceProcessor(source)
            opened.callback(tp.close)
            return tp

        yield open_trace


@pytest.fixture
def find(load: Load) -> Find:
    """Finds everything in a trace that was built or lies in a file."""
    return lambda trace: find_all(load(trace))
