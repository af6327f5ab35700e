"""The rule `switch-storm`: the bound, what counts, who woke the thread."""

import pytest
from tests.findings.builder import MS, US, Run, TraceBuilder
from tests.findings.conftest import Find

from unjank.findings import Finding, FindingSet


def storms(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == "switch-storm"]


def sleeper(times: int, *, period: int = 100 * US, state: str = "S") -> TraceBuilder:
    """A thread that runs 20 µs and then sleeps, so many times."""
    trace = TraceBuilder()
    thread = trace.thread(100, 101, "poller")
    runs = [Run(thread, index * period, index * period + 20 * US, state) for index in range(times)]
    trace.schedule(0, runs)
    return trace


@pytest.mark.parametrize(("times", "found"), [(1000, 1), (999, 0)])
def test_bound(find: Find, times: int, found: int) -> None:
    """A thousand times within 100 ms is a storm, one less is none."""
    assert len(storms(find(sleeper(times)))) == found


@pytest.mark.parametrize(("recorded", "found"), [(100, 1), (300, 0)])
def test_a_recording_is_about_its_programs(find: Find, recorded: int, found: int) -> None:
    """Other processes' storms are left out of a recording, and the notes name them."""
    trace = sleeper(1000)
    trace.thread(recorded, recorded, "main")
    trace.session(recorded)
    result = find(trace)
    assert len(storms(result)) == found
    assert any("other programs on the machine (app.py)" in note for note in result.notes) == (not found)


def test_what_a_recorded_program_started_belongs_to_it(find: Find) -> None:
    """Also by way of another process."""
    trace = sleeper(1000)
    trace.thread(300, 300, "main")
    trace.session(300)
    trace.process_tree(200, "sh", parent=300)
    trace.process_tree(100, "poller", parent=200)
    assert len(storms(find(trace))) == 1


def test_numbers(find: Find) -> None:
    """Two spells of 100 ms and one between: counts, length and rate are of the spells only."""
    trace = TraceBuilder()
    thread, waker = trace.thread(100, 101, "poller"), trace.thread(100, 102, "feeder")
    starts = [
        *range(0, 100 * MS, 100 * US),
        *range(150 * MS, 160 * MS, MS),
        *range(300 * MS, 500 * MS, 50 * US),
    ]
    trace.schedule(0, [Run(thread, start, start + 20 * US) for start in starts])
    trace.schedule(1, [Run(waker, 0, 600 * MS)])
    for start in starts[1:]:
        trace.waking(start - 1 * US, thread, 0, by=waker, on=1)
    (finding,) = storms(find(trace))
    assert (finding.thread, finding.owner, finding.count) == ("poller", "feeder", 5000)
    assert (finding.ts_ns, finding.dur_ns, finding.severity) == (300 * MS, 200 * MS, "medium")
    detail = finding.detail
    assert (detail["total_ns"], detail["spells"], detail["peak_per_s"]) == (300 * MS, 2, 20_000)
    assert (detail["involuntary"], detail["ran_ns"], detail["ran_per_switch_ns"]) == (0, 100 * MS, 20 * US)
    assert detail["waker_wakeups"] == len(starts) - 1
    assert detail["summary"] == (
        "poller (app.py) went to sleep 5000 times in 300 ms, up to 20000 times a second, and ran 20 µs at a "
        "time, mostly woken by feeder (app.py)."
    )


def test_preemption_is_not_voluntary(find: Find) -> None:
    """A thread that is switched out while it could run on does not storm."""
    assert storms(find(sleeper(1500, period=50 * US, state="R+"))) == []


@pytest.mark.parametrize(
    ("times", "period", "severity"),
    [
        (5000, 20 * US, "high"),
        (4999, 20 * US, "medium"),
        (10_000, 100 * US, "high"),
        (9_999, 100 * US, "medium"),
    ],
)
def test_severity(find: Find, times: int, period: int, severity: str) -> None:
    """High is a rate of 50,000 a second, or a second of it."""
    trace = TraceBuilder()
    thread = trace.thread(100, 101, "poller")
    trace.schedule(0, [Run(thread, index * period, index * period + 5 * US) for index in range(times)])
    (finding,) = storms(find(trace))
    assert finding.severity == severity


def test_without_waking_events(find: Find) -> None:
    """Where the trace has no wake-ups the rule still counts switches, and does not name a waker."""
    (finding,) = storms(find(sleeper(1000)))
    assert (finding.owner, finding.detail["waker_tid"]) == (None, None)
    assert "poll less often" in finding.advice
