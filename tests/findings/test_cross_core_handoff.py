"""The rule `cross-core-handoff`: pairs that wake each other from one CPU to another."""

import pytest
from tests.findings.builder import MS, US, Run, TraceBuilder
from tests.findings.conftest import Find

from unjank.findings import Finding, FindingSet

WAKE = 3 * US  # until a woken thread runs


def handoffs(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == "cross-core-handoff"]


def ping_pong(rounds: int, *, period: int, cpus: tuple[int, int] = (0, 1), back: bool = True) -> TraceBuilder:
    """Two threads pass a token; each wakes the other and goes to sleep, `rounds` times in all."""
    trace = TraceBuilder()
    ping, pong = trace.thread(100, 101, "ping"), trace.thread(200, 201, "pong")
    half = period // 2
    runs: dict[int, list[Run]] = {cpu: [] for cpu in cpus}
    for index in range(rounds):
        start = index * period
        runs[cpus[0]].append(Run(ping, start, start + half - 4 * US))
        runs[cpus[1]].append(Run(pong, start + half, start + period - 4 * US))
        trace.waking(start + half - WAKE - 2 * US, pong, cpus[1], by=ping, on=cpus[0])
        if back:
            trace.waking(start + period - WAKE - 2 * US, ping, cpus[0], by=pong, on=cpus[1])
    for cpu, on_cpu in runs.items():
        trace.schedule(cpu, sorted(on_cpu, key=lambda run: run.start))
    return trace


def test_numbers(find: Find) -> None:
    """Hand-overs both ways are counted, with the time until the woken thread ran."""
    (finding,) = handoffs(find(ping_pong(100, period=1 * MS)))
    # The last wake-up is of a thread that never runs again.
    assert finding.count == 199
    assert {finding.thread, finding.owner} == {"ping", "pong"}
    detail = finding.detail
    assert (detail["peak_per_s"], detail["busy_ns"], detail["handoffs"]) == (1990, 100 * MS, 199)
    assert (detail["across_mean_ns"], detail["same_core_mean_ns"]) == (WAKE + 2 * US, None)
    assert (finding.dur_ns, detail["total_ns"]) == (WAKE + 2 * US, 199 * (WAKE + 2 * US))
    assert detail["pair"] == [
        {"thread": "ping", "tid": 101, "process": "app.py", "woken": 99},
        {"thread": "pong", "tid": 201, "process": "app.py", "woken": 100},
    ]
    assert "unjank cpu pin" in finding.advice


@pytest.mark.parametrize(("recorded", "found"), [(100, 1), (200, 1), (300, 0)])
def test_a_recording_is_about_its_programs(find: Find, recorded: int, found: int) -> None:
    """Of a recording a pair counts if one of the two belongs to it."""
    trace = ping_pong(100, period=1 * MS)
    if recorded == 300:
        trace.thread(300, 300, "main")
    trace.session(recorded)
    assert len(handoffs(find(trace))) == found


def test_on_one_cpu_is_left_alone(find: Find) -> None:
    """Threads that take turns on one CPU are where they belong."""
    assert handoffs(find(ping_pong(500, period=100 * US, cpus=(0, 0)))) == []


def test_one_way_is_no_pair(find: Find) -> None:
    """A thread that only wakes another does not wait for it."""
    assert handoffs(find(ping_pong(500, period=100 * US, back=False))) == []


@pytest.mark.parametrize(
    ("rounds", "period", "severity"),
    [
        (50, 1900 * US, None),
        (60, 1900 * US, "low"),
        (151, 600 * US, "medium"),
        (501, 190 * US, "high"),
    ],
)
def test_severity_by_rate(find: Find, rounds: int, period: int, severity: str | None) -> None:
    """Fewer than 100 within 100 ms are none; the rate makes it low, medium or high."""
    found = handoffs(find(ping_pong(rounds, period=period)))
    assert [finding.severity for finding in found] == ([severity] if severity else [])
