"""Pages of traces that others recorded."""

from pathlib import Path

import pytest
from tests.report.html.test_page import Elements, words

from unjank import TraceProcessor
from unjank.findings import Evidence, find_all
from unjank.report.html import render_html


def page_of_file(path: Path) -> str:
    """The page of a trace."""
    with TraceProcessor(path) as tp:
        return render_html(Evidence(tp), find_all(tp), trace=str(path), engine=tp.engine)


def test_android_start_up(api32_trace: Path) -> None:
    """Twelve of the worst stalls have a picture with waiter, owner and CPU; the rest is in tables."""
    page = page_of_file(api32_trace)
    elements = Elements(page)
    cards = [each for each in elements.of("article") if each.get("class") == "stall"]
    pictures = [each for each in elements.of("svg") if each.get("class") == "picture wide"]
    assert len(cards) == len(pictures) == 12
    text = words(page)
    assert "android.display (system_server) waited 9.36 ms" in text
    assert "holds the lock" in text
    assert "CPU 0" in text
    assert "Scheduling 11,078 who had the CPU" in text
    assert "Messages of loopers 129 which messages ran long" in text
    assert "Logcat none long waits and late messages" in text


@pytest.mark.parametrize(
    "name",
    [
        "android_jank_cpu_sampling.pftrace",
        "android_atrace_headerless.txt",
        "android_systrace_surfaceflinger.html",
        "art_method_streaming.trace.gz",
        "chrome_simple.zip",
        "empty_systrace.html",
    ],
)
def test_other_traces(traces_dir: Path, name: str) -> None:
    """Traces of every format make a page that says what they lack and how to record it."""
    text = words(page_of_file(traces_dir / name))
    assert "What the trace tells, and what it lacks" in text
    assert "How to record it next time" in text
