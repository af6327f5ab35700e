"""Traces to make pages of: a UI thread that waits for one without a CPU, and names that mean harm."""

from collections.abc import Callable, Iterator

import pytest
from tests.findings.builder import TraceBuilder
from tests.report.launcher import launcher

from unjank import TraceProcessor
from unjank.findings import Evidence, FindingSet, find_all
from unjank.report.html import render_html

HOSTILE = '</script><img src=x onerror="alert(1)">\'&\x1b[2J\u202e'

Opened = tuple[Evidence, FindingSet]
Open = Callable[[TraceBuilder], Opened]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Loads a trace that was built, and finds what is in it."""
    processors: list[TraceProcessor] = []

    def load(builder: TraceBuilder) -> Opened:
        tp = TraceProcessor(builder.data())
        processors.append(tp)
        return Evidence(tp), find_all(tp)

    yield load
    for tp in processors:
        tp.close()


@pytest.fixture(scope="session")
def launcher_page() -> str:
    """The page of `launcher()`, made once for all tests that only look at it."""
    with TraceProcessor(launcher().data()) as tp:
        return page_of((Evidence(tp), find_all(tp)))


def page_of(opened: Opened, name: str = "run.pftrace") -> str:
    """The page of a trace."""
    return render_html(opened[0], opened[1], trace=name, engine="wasm")
