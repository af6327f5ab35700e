"""What the owners of locks did during waits: thread states and kernel functions, by lock."""

from pathlib import Path

from tests.findings.builder import MS, Run, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Finding, sql_of


def contention(find: Find, trace: TraceBuilder) -> Finding:
    """The one finding on a lock."""
    (finding,) = [finding for finding in find(trace).findings if finding.kind == "lock-contention"]
    return finding


def on_disk() -> TraceBuilder:
    """A thread waits 10 ms for an owner that reads from a disk for 7 of them, in two functions."""
    trace = TraceBuilder()
    ui, owner = trace.thread(100, 101, "ui"), trace.thread(100, 102, "owner")
    trace.contention(ui, owner, 10 * MS, 20 * MS)
    trace.schedule(
        0,
        [Run(owner, 9 * MS, 11 * MS, "D"), Run(owner, 13 * MS, 14 * MS, "D"), Run(owner, 19 * MS, 22 * MS)],
    )
    trace.blocked_in(13 * MS - 1, owner, "do_page_fault")
    trace.waking(13 * MS - 1, owner, 0)
    trace.blocked_in(19 * MS - 1, owner, "wait_on_page_bit")
    trace.waking(19 * MS - 1, owner, 0)
    return trace


def test_states_and_functions(find: Find) -> None:
    """The owner's time is split by state and by kernel function, cut to the wait."""
    finding = contention(find, on_disk())
    assert finding.detail["owner_states"] == {"D": 7 * MS - 2, "Running": 3 * MS, "R": 2}
    assert finding.detail["owner_blocked_in"] == [
        {"function": "wait_on_page_bit", "count": 1, "total_ns": 5 * MS - 1},
        {"function": "do_page_fault", "count": 1, "total_ns": 2 * MS - 1},
    ]
    assert "disk or for memory (in wait_on_page_bit)" in finding.advice


def test_sql_tells_the_same(load: Load) -> None:
    """The module behind it, on Perfetto's tables, gives the same sums."""
    tp = load(on_disk())
    tp.rows(sql_of("priority-inversion"))
    rows = tp.rows("SELECT state, blocked_function, dur FROM unjank_owner_state ORDER BY dur DESC")
    assert [(row["state"], row["blocked_function"], row["dur"]) for row in rows] == [
        ("D", "wait_on_page_bit", 5 * MS - 1),
        ("Running", None, 3 * MS),
        ("D", "do_page_fault", 2 * MS - 1),
        ("R", None, 2),
    ]


def test_without_scheduling_nothing_is_said(find: Find) -> None:
    """Without the kernel's scheduling both are null."""
    trace = TraceBuilder()
    trace.contention(trace.thread(100, 101, "ui"), trace.thread(100, 102, "owner"), 10 * MS, 20 * MS)
    finding = contention(find, trace)
    assert (finding.detail["owner_states"], finding.detail["owner_blocked_in"]) == (None, None)


def test_api32(find: Find, api32_trace: Path) -> None:
    """On a real trace the owners ran 67.9 ms, slept 56.1 ms and were kept off the CPU 36.7 ms."""
    sums: dict[str, int] = {}
    for finding in find(api32_trace).findings:
        states = finding.detail.get("owner_states")
        if finding.kind == "lock-contention" and isinstance(states, dict):
            for state, total in states.items():
                sums[state] = sums.get(state, 0) + total
    assert sums == {
        "Running": 67_864_544,
        "S": 56_101_851,
        "R": 20_394_976,
        "R+": 16_343_226,
        "D": 667_522,
    }
