"""Which findings of two traces belong together, and what became of them."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from unjank.findings import Finding, FindingSet, Severity
from unjank.report.compare import (
    Change,
    Comparison,
    Side,
    compare,
    comparison_document,
    regressions,
    render_comparison,
)
from unjank.report.compare._identity import identity

MS = 1_000_000
S = 1_000 * MS


def finding(events: tuple[int, ...] = (5 * MS,), **changes: Any) -> Finding:
    """A finding on waits of the given lengths, with some members changed."""
    detail = {
        "lock": "Queue._lock (launcher.py:41)",
        "total_ns": sum(events),
        "waiters": [{"thread": "UI thread", "main": False}],
    }
    members: dict[str, Any] = {
        "kind": "lock-contention",
        "severity": Severity.MEDIUM,
        "process": "launcher.py",
        "thread": "UI thread",
        "owner": "writer",
        "where": "UI.frame() (launcher.py:31)",
        "owner_where": "Queue.post() (launcher.py:77)",
        "ts_ns": 5,
        "dur_ns": max(events, default=0),
        "count": len(events),
        "advice": "Hold the lock for a shorter time.",
        "events_ns": events,
        "detail": {**detail, **changes.pop("detail", {})},
    }
    return Finding(**{**members, **changes})


def side(*findings: Finding, dur: int = 10 * S, name: str = "run.pftrace") -> Side:
    """A trace of ten seconds."""
    return Side(name, "wasm", dur, FindingSet.ranked(findings, ()))


def only(before: Finding | None, after: Finding | None) -> Comparison:
    """The one comparison of two traces with a finding each, or none."""
    (comparison,) = compare(side(*filter(None, [before])), side(*filter(None, [after])))
    return comparison


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"owner_where": "Queue.post() (launcher.py:99)"}, id="the owner's line"),
        pytest.param({"detail": {"lock": "Queue._lock (launcher.py:44)"}}, id="the lock's line"),
        pytest.param({"where": "UI.frame() (launcher.py:50)", "owner": "other"}, id="waiter's line, owner"),
        pytest.param({"severity": Severity.HIGH, "ts_ns": 99}, id="how bad and when"),
    ],
)
def test_same_thing(changes: dict[str, Any]) -> None:
    """Lines move and severities change; it is the same lock taken in the same method."""
    assert only(finding(), finding(**changes)).before is not None
    assert identity(finding()) == identity(finding(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "priority-inversion"},
        {"process": "other.py"},
        {"owner_where": "Queue.clear() (launcher.py:77)"},
        {"detail": {"lock": "Queue._other (launcher.py:41)"}},
        {"detail": {"waiters": [{"thread": "main", "main": True}]}},
    ],
)
def test_other_thing(changes: dict[str, Any]) -> None:
    """Another kind, process, lock, method, or main threads' waits are things of their own."""
    changes_of = [c.change for c in compare(side(finding()), side(finding(**changes)))]
    assert changes_of == [Change.NEW, Change.GONE]


def test_threads_are_known_by_names_without_numbers() -> None:
    """Threads of a pool have other numbers in the next run; a pair is the same the other way round."""
    storm: dict[str, Any] = {"kind": "switch-storm", "detail": {"lock": None}}
    assert identity(finding(thread="pool-1-thread-3", **storm)) == identity(
        finding(thread="pool-2-thread-11", **storm)
    )
    pair = [{"thread": "ping"}, {"thread": "pong"}]
    handoff: dict[str, Any] = {"kind": "cross-core-handoff"}
    assert identity(finding(detail={"lock": None, "pair": pair}, **handoff)) == identity(
        finding(thread="ping", owner="UI", detail={"lock": None, "pair": pair[::-1]}, **handoff)
    )


def test_circle_is_known_by_its_locks() -> None:
    """A deadlock is the same whichever wait closed it."""
    circle = [{"lock": "A (a.py:1)"}, {"lock": "B (a.py:2)"}]
    first = finding(kind="deadlock-cycle", detail={"cycle": circle})
    assert identity(first) == identity(finding(kind="deadlock-cycle", detail={"cycle": circle[::-1]}))


def test_slow_messages_are_known_by_the_message() -> None:
    """Two messages of one thread are two things."""
    one, other = (finding(kind="slow-dispatch", where=name, detail={"lock": None}) for name in ("a.B", "a.C"))
    assert identity(one) != identity(other)


def test_several_findings_on_one_thing_are_added() -> None:
    """Two places in one method count together."""
    again = finding((7 * MS, 2 * MS), owner_where="Queue.post() (launcher.py:80)", severity=Severity.HIGH)
    (comparison,) = compare(side(finding(), again), side())
    assert comparison.before is not None
    assert (comparison.before.count, comparison.before.longest_ns, comparison.before.total_ns) == (
        3,
        7 * MS,
        14 * MS,
    )
    assert comparison.before.severity is Severity.HIGH


MANY = tuple(range(4 * MS, 6 * MS, 20_000))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (None, finding(), Change.NEW),
        (finding(), None, Change.GONE),
        (finding(), finding(severity=Severity.HIGH), Change.WORSE),
        (finding(), finding(severity=Severity.LOW), Change.BETTER),
        (finding(), finding((6 * MS,)), Change.UNCLEAR),
        (finding(MANY), finding(tuple(event // 2 for event in MANY)), Change.BETTER),
        (finding(MANY), finding(tuple(event * 2 for event in MANY)), Change.WORSE),
        (finding(MANY), finding(MANY[::8]), Change.BETTER),
        (finding(MANY), finding(MANY, severity=Severity.HIGH), Change.WORSE),
        (finding(MANY), finding(tuple(event * 2 for event in MANY[::4])), Change.UNCLEAR),
    ],
)
def test_change(before: Finding | None, after: Finding | None, change: Change) -> None:
    """By what is sure, else by severity; where fewer waits are longer ones it is not clear."""
    assert only(before, after).change is change


def test_order_and_regressions() -> None:
    """What is new or worse comes first; only that crosses a threshold."""
    gone = finding(process="a", severity=Severity.HIGH)
    new = finding(process="b", severity=Severity.LOW)
    comparisons = compare(side(gone, finding()), side(new, finding(severity=Severity.HIGH)))
    assert [c.change for c in comparisons] == [Change.NEW, Change.WORSE, Change.GONE]
    assert [c.shown.process for c in regressions(comparisons, Severity.MEDIUM)] == ["launcher.py"]
    assert len(regressions(comparisons, Severity.LOW)) == 2


def test_document() -> None:
    """Both sides, sums, findings, and ratios or null."""
    before, after = (
        side(finding(), name="a"),
        side(finding(MANY), finding(process="new"), name="b", dur=20 * S),
    )
    document = comparison_document(before, after, compare(before, after))
    assert document["schema"] == "unjank.compare/1"
    assert document["changes"] == {"new": 1, "worse": 1, "unclear": 0, "better": 0, "gone": 0}
    findings = document["findings"]
    assert isinstance(findings, list)
    new, worse = findings
    assert (new["change"], new["before"], new["ratios"]["median"]) == ("new", None, None)
    assert (worse["before"]["total_ns"], worse["after"]["count"]) == (5 * MS, 100)
    assert worse["ratios"]["total_per_s"]["ratio"] == sum(MANY) / (5 * MS) / 2
    assert worse["after"]["findings"][0]["kind"] == "lock-contention"


def test_terminal() -> None:
    """Each change with its figures before and after."""
    before = side(finding(MANY), name="a.pftrace")
    after = side(finding(MANY[::8], severity=Severity.LOW), finding(process="\x1b[2Jnew"), name="b.pftrace")
    out = io.StringIO()
    comparisons = compare(before, after)
    render_comparison(Console(file=out, width=100), before, after, comparisons, top=5)
    assert re.sub(r"[(]0[.]0[0-9]+ to 0[.]2[0-9]*[)]", "(LOW to HIGH)", out.getvalue()) == (
        "before  a.pftrace, 10 s\n"
        "after   b.pftrace, 10 s\n"
        "\n"
        "1 new, 1 better.\n"
        "\n"
        "new: only after (1)\n"
        "medium          lock-contention  UI thread (\\x1b[2Jnew)\n"
        "        for Queue._lock (launcher.py:41)\n"
        "        held in Queue.post() (launcher.py:77)\n"
        "        worst   5 ms\n"
        "        total   5 ms\n"
        "        times   1\n"
        "\n"
        "better (1)\n"
        "medium to low   lock-contention  UI thread (launcher.py)\n"
        "        for Queue._lock (launcher.py:41)\n"
        "        held in Queue.post() (launcher.py:77)\n"
        "        worst   5.98 ms to 5.92 ms\n"
        "        total   499 ms to 64.5 ms, per second 0.129x (LOW to HIGH)\n"
        "        times   100 to 13\n"
        "\n"
        "0.5x is the ratio of after to before, in brackets the interval that holds it at 95 % confidence.\n"
    )


def test_nothing_in_either() -> None:
    """Two clean traces are said to be clean."""
    out = io.StringIO()
    render_comparison(Console(file=out, width=80), side(), side(), ())
    assert out.getvalue().endswith("No stall was found in either trace.\n")
