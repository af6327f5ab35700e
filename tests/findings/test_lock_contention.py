"""The rule `lock-contention`."""

import pytest
from tests.findings.builder import MS, US, TraceBuilder
from tests.findings.conftest import Find

from unjank.findings import Finding, FindingSet, Severity

KIND = "lock-contention"


def of_kind(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == KIND]


def only(found: FindingSet) -> Finding:
    """The one finding of this rule."""
    (finding,) = of_kind(found)
    return finding


def one_wait(dur: int, *, thread_name: str = "worker", is_main: bool = False) -> TraceBuilder:
    """A trace of one second with one wait."""
    trace = TraceBuilder()
    waiter = trace.thread(100, 100 if is_main else 101, thread_name)
    owner = trace.thread(100, 109, "owner")
    trace.contention(waiter, owner, 10 * MS, 10 * MS + dur)
    trace.instant(109, 1000 * MS, "later", category="test")
    return trace


def test_contract(find: Find) -> None:
    """One wait gives every member of the contract, with exact numbers."""
    finding = only(find(one_wait(18_200 * US, thread_name="UI thread", is_main=True)))
    content = finding.to_dict()
    detail = content.pop("detail")
    assert content == {
        "kind": KIND,
        "severity": "high",
        "process": "app.py",
        "thread": "UI thread",
        "owner": "owner",
        "where": "Ledger.read() (bank.py:30)",
        "owner_where": "Ledger.post() (bank.py:20)",
        "ts_ns": 10 * MS,
        "dur_ns": 18_200_000,
        "count": 1,
        "advice": "Do less while holding Ledger._lock (bank.py:4) in Ledger.post() (bank.py:20): move work, "
        "input and output out of the lock, split it, or hand the work over in a message instead of sharing "
        "the data.",
    }
    assert isinstance(detail, dict)
    assert detail["lock"] == "Ledger._lock (bank.py:4)"
    assert detail["lock_type"] == "Lock"
    assert detail["total_ns"] == 18_200_000
    assert detail["stack"] == "Ledger.read (bank.py:30) < main (bank.py:50)"
    assert detail["summary"] == (
        "UI thread (app.py) waited 18.2 ms for Ledger._lock (bank.py:4), held by owner "
        "in Ledger.post() (bank.py:20)."
    )


def test_sums_per_lock_and_owner_site(find: Find) -> None:
    """Waits for one lock taken at one place are counted together, other places and locks apart."""
    trace = TraceBuilder()
    first, second, owner = (trace.thread(100, tid, f"t{tid}") for tid in (101, 102, 109))
    trace.contention(first, owner, 1 * MS, 2 * MS)
    trace.contention(second, owner, 1 * MS, 4 * MS + 7)
    trace.contention(first, owner, 5 * MS, 5 * MS + 300)
    trace.contention(first, owner, 6 * MS, 8 * MS, owner_site="Ledger.audit()(bank.py:60)")
    trace.contention(first, owner, 9 * MS, 10 * MS, lock="Cache._lock (cache.py:9)", lock_id=2)
    findings = of_kind(find(trace))
    assert sorted((f.count, f.detail["total_ns"], f.dur_ns) for f in findings) == [
        (1, 1_000_000, 1_000_000),
        (1, 2_000_000, 2_000_000),
        (3, 4_000_307, 3_000_007),
    ]
    (together,) = (f for f in findings if f.count == 3)
    assert (together.thread, together.ts_ns) == ("t102", 1 * MS)
    assert together.detail["waiters"] == [
        {
            "thread": "t102",
            "tid": 102,
            "main": False,
            "count": 1,
            "total_ns": 3_000_007,
            "worst_ns": 3_000_007,
        },
        {
            "thread": "t101",
            "tid": 101,
            "main": False,
            "count": 2,
            "total_ns": 1_000_300,
            "worst_ns": 1_000_000,
        },
    ]


def test_main_thread_apart(find: Find) -> None:
    """What the main thread lost is a finding of its own, so that its sum is exact."""
    trace = TraceBuilder()
    main, other, owner = (trace.thread(100, tid, f"t{tid}") for tid in (100, 101, 109))
    trace.contention(main, owner, 1 * MS, 2 * MS)
    trace.contention(other, owner, 1 * MS, 4 * MS)
    assert sorted((f.thread or "", f.detail["total_ns"]) for f in of_kind(find(trace))) == [
        ("t100", 1_000_000),
        ("t101", 3_000_000),
    ]


def test_same_named_threads_stay_apart(find: Find) -> None:
    """Threads of one name are told apart by their ids, waiters and owners."""
    trace = TraceBuilder()
    twins = [trace.thread(100, tid, "pool") for tid in (101, 102, 103)]
    trace.contention(twins[0], twins[2], 1 * MS, 2 * MS)
    trace.contention(twins[1], twins[2], 1 * MS, 3 * MS)
    finding = only(find(trace))
    waiters = finding.detail["waiters"]
    assert isinstance(waiters, list)
    assert [(w["tid"], w["total_ns"]) for w in waiters] == [(102, 2_000_000), (101, 1_000_000)]
    assert (finding.detail["waiter_tid"], finding.detail["owner_tid"]) == (102, 103)


def test_processes_stay_apart(find: Find) -> None:
    """The same lock name in two processes is two locks."""
    trace = TraceBuilder()
    for pid, name in ((100, "parent"), (200, "child")):
        trace.process(pid, name)
        trace.contention(
            trace.thread(pid, pid + 1, "waiter"), trace.thread(pid, pid + 2, "owner"), 1 * MS, 2 * MS
        )
    assert sorted(f.process or "" for f in of_kind(find(trace))) == ["child", "parent"]


@pytest.mark.parametrize(
    ("dur", "is_main", "name", "severity"),
    [
        (16_000_000, True, "MainThread", "high"),
        (15_999_999, True, "MainThread", "medium"),
        (4_000_000, True, "MainThread", "medium"),
        (3_999_999, True, "MainThread", "low"),
        (16_000_000, False, "UI thread", "high"),
        (16_000_000, False, "RenderThread", "high"),
        (16_000_000, False, "builder", "medium"),
        (15_999_999, False, "worker", "low"),
        (99_999_999, False, "worker", "medium"),
        (100_000_000, False, "worker", "high"),
    ],
)
def test_severity_by_longest_wait(find: Find, dur: int, is_main: bool, name: str, severity: str) -> None:
    """The documented bounds hold to the nanosecond, for threads a person waits for and for others."""
    assert only(find(one_wait(dur, thread_name=name, is_main=is_main))).severity == severity


@pytest.mark.parametrize(("waits", "severity"), [(100, "medium"), (99, "low")])
def test_severity_by_sum(find: Find, waits: int, severity: str) -> None:
    """Short waits that add up to a tenth of the trace are worth a look."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 109, "owner")
    for index in range(waits):
        trace.contention(waiter, owner, index * 10 * MS, (index * 10 + 1) * MS)
    trace.instant(109, 1000 * MS, "later", category="test")
    assert only(find(trace)).severity == severity


def test_unfinished_wait_lasts_to_the_end(find: Find) -> None:
    """A wait without an end counts up to the end of the trace, and says so."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 109, "owner")
    trace.contention(waiter, owner, 10 * MS, None)
    trace.instant(109, 75 * MS, "last", category="test")
    found = find(trace)
    finding = only(found)
    assert finding.dur_ns == 65 * MS
    assert finding.detail["unfinished"] == 1
    assert finding.detail["summary"] == (
        "waiter (app.py) had waited 65 ms for Ledger._lock (bank.py:4) when the trace ended; it was "
        "held by owner in Ledger.post() (bank.py:20)."
    )
    assert "1 of 1 waits had not ended with the trace; they count up to its end." in found.notes


def test_chain_names_who_blocks_the_blocker(find: Find) -> None:
    """An owner that itself waits is followed to the thread at the end."""
    trace = TraceBuilder()
    ui, middle, last = (
        trace.thread(100, tid, name) for tid, name in ((101, "ui"), (102, "middle"), (103, "last"))
    )
    trace.contention(middle, last, 1 * MS, 9 * MS, lock="B", lock_id=2)
    trace.contention(ui, middle, 2 * MS, 10 * MS, lock="A")
    finding = next(f for f in of_kind(find(trace)) if f.thread == "ui")
    chain = finding.detail["chain"]
    assert isinstance(chain, list)
    assert [(link["thread"], link["lock"], link["owner"]) for link in chain] == [("middle", "B", "last")]
    assert str(finding.detail["summary"]).endswith("which itself waited for B, held by last.")
    assert "last holds B" in finding.advice


@pytest.mark.parametrize(("blocked", "links"), [(800 * US, 0), (801 * US, 1)])
def test_chain_leaves_out_what_explains_nothing(find: Find, blocked: int, links: int) -> None:
    """An owner that was blocked for a tenth of the wait or less is not a link."""
    trace = TraceBuilder()
    ui, middle, last = (trace.thread(100, tid, f"t{tid}") for tid in (101, 102, 103))
    trace.contention(ui, middle, 2 * MS, 10 * MS, lock="A")
    trace.contention(middle, last, 3 * MS, 3 * MS + blocked, lock="B", lock_id=2)
    finding = next(f for f in of_kind(find(trace)) if f.thread == "t101")
    chain = finding.detail["chain"]
    assert isinstance(chain, list)
    assert len(chain) == links


def test_timeouts_and_gil_time_are_told(find: Find) -> None:
    """How waits ended and the time to get the interpreter's lock back are summed up."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 109, "owner")
    trace.contention(waiter, owner, 1 * MS, 2 * MS, end_args={"gil_ns": 400})
    trace.contention(waiter, owner, 3 * MS, 6 * MS, result="timeout", end_args={"gil_ns": 600})
    finding = only(find(trace))
    assert finding.detail["results"] == {"acquired": 1, "timeout": 1}
    assert finding.detail["gil_ns"] == 1000
    assert "waited 3 ms in vain" in str(finding.detail["summary"])


def test_worst_comes_first(find: Find) -> None:
    """Findings are ranked by severity, then by their longest wait."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 109, "owner")
    for index, dur in enumerate((2 * MS, 120 * MS, 20 * MS, 30 * MS)):
        trace.contention(
            waiter, owner, index * 200 * MS, index * 200 * MS + dur, lock=f"L{index}", lock_id=index
        )
    found = find(trace)
    assert [f.detail["lock"] for f in found.findings] == ["L1", "L3", "L2", "L0"]
    assert [f.detail["lock"] for f in found.at_least(Severity.MEDIUM)] == ["L1", "L3", "L2"]


def test_advice_on_threads_that_wait_for_each_other(find: Find) -> None:
    """Where the chain comes back to the waiter, no lock further on is to blame."""
    trace = TraceBuilder()
    first, second = trace.thread(100, 101, "first"), trace.thread(100, 102, "second")
    trace.contention(first, second, 10 * MS, 40 * MS, result="timeout")
    trace.contention(second, first, 11 * MS, 41 * MS, lock="B", lock_id=2)
    advice = {finding.advice for finding in of_kind(find(trace))}
    assert advice == {"The threads wait for each other: take the locks in the same order everywhere."}


def test_advice_on_a_circle_behind_the_owner(find: Find) -> None:
    """Where the owner waits in a circle without the waiter, no lock further on is to blame either."""
    trace = TraceBuilder()
    waiter, first, second = (trace.thread(100, 101 + n, name) for n, name in enumerate(("w", "a", "b")))
    trace.contention(waiter, first, 10 * MS, 40 * MS, lock="A", lock_id=1)
    trace.contention(first, second, 11 * MS, 39 * MS, lock="B", lock_id=2, result="timeout")
    trace.contention(second, first, 12 * MS, 41 * MS, lock="C", lock_id=3)
    (finding,) = [each for each in of_kind(find(trace)) if each.detail["lock"] == "A"]
    assert finding.advice == "The threads wait for each other: take the locks in the same order everywhere."
