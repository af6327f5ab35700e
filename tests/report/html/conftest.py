"""Traces to make pages of: a UI thread that waits for one without a CPU, and names that mean harm."""

from collections.abc import Callable, Iterator

import pytest
from tests.findings.builder import MS, Run, TraceBuilder

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


def launcher(ui: str = "UI thread", process: str = "launcher.py", sched: bool = True) -> TraceBuilder:
    """A UI thread that waits 18.2 ms for a thread that two others keep off the CPU."""
    trace = TraceBuilder()
    trace.process(100, process)
    trace.session(100, sched="ftrace")
    names = (ui, "BackgroundExecutor", "camera-0", "camera-1")
    waiter, owner, first, second = (trace.thread(100, 101 + n, name) for n, name in enumerate(names))
    end = 28 * MS + 200_000
    lock, site = "Queue._lock (launcher.py:41)", "Queue.post()(launcher.py:77)"
    trace.contention(waiter, owner, 10 * MS, end, lock=lock, owner_site=site)
    if sched:
        runs = [
            Run(waiter, 9 * MS, 10 * MS),
            Run(owner, 10 * MS, 11 * MS, "R+", 130),
            Run(first, 11 * MS, 20 * MS, "S", 125),
            Run(second, 20 * MS, 26 * MS + 900_000, "S", 125),
            Run(owner, 26 * MS + 900_000, end, "S", 130),
            Run(waiter, end, 29 * MS),
        ]
        trace.schedule(0, runs)
    return trace


def page_of(opened: Opened, name: str = "run.pftrace") -> str:
    """The page of a trace."""
    return render_html(opened[0], opened[1], trace=name, engine="wasm")
