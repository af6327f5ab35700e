"""The SQL behind each finding: it runs as it stands and gives the numbers that the rule gives."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.findings.builder import MS, Run, TraceBuilder
from tests.findings.conftest import Load

from unjank.findings import RULES, Evidence, Finding, find_all, sql_of
from unjank.findings._owner_time import owner_time
from unjank.trace import TraceProcessor

KINDS = [kind for kind, _ in RULES]


def number(value: object) -> int:
    """A number of a finding's `detail`."""
    assert isinstance(value, int)
    return value


def of_kind(tp: TraceProcessor, kind: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in find_all(tp).findings if finding.kind == kind]


@pytest.mark.parametrize("kind", KINDS)
def test_runs_on_an_empty_trace_and_again(load: Load, kind: str) -> None:
    """Each text runs where there is nothing to find, and a second time in the same session."""
    tp = load(TraceBuilder())
    assert tp.rows(sql_of(kind)) == []
    assert tp.rows(sql_of(kind)) == []


def test_unknown_kind() -> None:
    """A kind that does not exist is named."""
    with pytest.raises(ValueError, match="no finding 'nonsense'"):
        sql_of("nonsense")


def test_modules_are_put_in_place() -> None:
    """Nothing is left of our own includes, which no other trace processor knows, and none comes twice."""
    text = sql_of("priority-inversion")
    assert "INCLUDE PERFETTO MODULE unjank" not in text
    assert text.count("PERFETTO TABLE unjank_contention AS") == 1


def test_lock_contention(load: Load, api32_trace: Path) -> None:
    """On a real trace the rows are the findings: as many, with the same counts, sums and worst waits."""
    tp = load(api32_trace)
    rows = tp.rows(sql_of("lock-contention"))
    found = of_kind(tp, "lock-contention")
    assert len(rows) == len(found) > 20
    assert Counter((row["count"], row["total_ns"], row["worst_ns"]) for row in rows) == Counter(
        (finding.count, finding.detail["total_ns"], finding.dur_ns) for finding in found
    )
    assert {(row["owner_name"], row["owner_tid"], row["thread_name"], row["ts"]) for row in rows} == {
        (finding.owner, finding.detail["owner_tid"], finding.thread, finding.ts_ns) for finding in found
    }


def test_priority_inversion(load: Load, api32_trace: Path) -> None:
    """On a real trace the owners' times off the CPU, running and blocked are those that the rule measures."""
    tp = load(api32_trace)
    rows = {(row["ts"], row["tid"]): row for row in tp.rows(sql_of("priority-inversion"))}
    assert len(rows) > 10
    evidence = Evidence(tp)
    for wait in evidence.contentions:
        time = owner_time(evidence, wait)
        assert time is not None
        row = rows.get((wait.start, wait.waiter.tid))
        if row is None:
            assert time.held_off < max(100_000, 0.2 * wait.dur)
        else:
            assert (row["held_off_ns"], row["owner_ran_ns"]) == (time.held_off, time.ran)
            assert row["owner_blocked_ns"] == time.blocked


def test_priority_inversion_from_schedstat(load: Load) -> None:
    """Without scheduling the recorder's counters are told."""
    trace = TraceBuilder()
    ui, owner = trace.thread(100, 101, "ui"), trace.thread(100, 102, "owner")
    counters = {"owner_run_ns": 3 * MS, "owner_wait_ns": 6 * MS}
    trace.contention(ui, owner, 10 * MS, 20 * MS, end_args=counters)
    (row,) = load(trace).rows(sql_of("priority-inversion"))
    assert (row["source"], row["held_off_ns"], row["owner_ran_ns"]) == ("schedstat", 6 * MS, 3 * MS)


def test_states_of_an_owner_that_runs_on(load: Load) -> None:
    """States are cut to the wait at both ends."""
    trace = TraceBuilder()
    ui, owner = trace.thread(100, 101, "ui"), trace.thread(100, 102, "owner")
    trace.contention(ui, owner, 10 * MS, 20 * MS)
    other = trace.thread(100, 103, "other")
    trace.schedule(
        0, [Run(owner, 1 * MS, 12 * MS, "R+"), Run(other, 12 * MS, 30 * MS), Run(owner, 30 * MS, 31 * MS)]
    )
    (row,) = load(trace).rows(sql_of("priority-inversion"))
    assert (row["held_off_ns"], row["owner_ran_ns"], row["owner_blocked_ns"]) == (8 * MS, 2 * MS, 0)


def test_deadlock_cycle(load: Load) -> None:
    """A circle of three is told from the wait that closed it; a chain that is no circle is not."""
    trace = TraceBuilder()
    a, b, c, d = (trace.thread(100, 101 + index, name) for index, name in enumerate("abcd"))
    trace.contention(a, b, 1 * MS, None, lock="first")
    trace.contention(b, c, 2 * MS, None, lock="second", lock_id=2)
    trace.contention(c, a, 3 * MS, 40 * MS, lock="third", lock_id=3, result="timeout")
    trace.contention(d, a, 4 * MS, 50 * MS, lock="third", lock_id=3)
    rows = load(trace).rows(sql_of("deadlock-cycle"))
    assert [(row["step"], row["thread_name"], row["lock"], row["result"]) for row in rows] == [
        (1, "c", "third", "timeout"),
        (2, "a", "first", "unfinished"),
        (3, "b", "second", "unfinished"),
    ]


def test_deadlock_cycle_with_a_join(load: Load) -> None:
    """A wait for a thread's end closes a circle as a lock does."""
    trace = TraceBuilder()
    main, worker = trace.thread(100, 100, "main"), trace.thread(100, 101, "worker")
    trace.contention(worker, main, 1 * MS, None)
    trace.join(main, worker, 2 * MS, None)
    rows = load(trace).rows(sql_of("deadlock-cycle"))
    assert [(row["thread_name"], row["lock"]) for row in rows] == [
        ("main", "the end of worker"),
        ("worker", "Ledger._lock (bank.py:4)"),
    ]


def test_queue_backlog(load: Load) -> None:
    """Delays are summed by looper and callback, those that ran in time and on virtual clocks left out."""
    trace = TraceBuilder()
    ui = trace.thread(100, 101, "ui")
    for index, delay in enumerate((3 * MS, 5 * MS, 0, None)):
        trace.dispatch(ui, (10 + 10 * index) * MS, (12 + 10 * index) * MS, delay=delay)
    (row,) = load(trace).rows(sql_of("queue-backlog"))
    expected: Mapping[str, object] = {
        "thread_name": "ui",
        "count": 2,
        "total_delay_ns": 8 * MS,
        "worst_delay_ns": 5 * MS,
        "total_run_ns": 4 * MS,
        "due_ts": 15 * MS,
    }
    assert {name: row[name] for name in expected} == expected
