"""Traces are written by anybody: odd names and types must neither break a rule nor reach the SQL."""

import pytest
from tests.findings.builder import MS, Args, Run, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import RULES, sql_of

ODD_NAMES = [
    "'; DROP TABLE slice; --",
    '"quoted" and %s {0}',
    "[red]x[/red]",
    "\x1b[2J\x1b]0;title\x07",
    "line\nbreak\ttab",
    "\u202egnp.exe",
    "waiters=3 blocking from nowhere",
    "x (5) at void A.b()(A.java:1)",
    "名前",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_thread_names(find: Find, name: str) -> None:
    """Thread names are data in every rule, whatever is in them."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, name), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 10 * MS, 40 * MS, lock=name)
    trace.contention(owner, waiter, 50 * MS, 90 * MS, lock="second", lock_id=2, result="timeout")
    rival = Run(trace.thread(100, 103, name), 11 * MS, 39 * MS)
    trace.schedule(0, [Run(owner, 9 * MS, 11 * MS, "R+", 130), rival, Run(owner, 39 * MS, 40 * MS, prio=130)])
    inversion, *waits = find(trace).findings
    assert (inversion.kind, inversion.thread, inversion.detail["lock"]) == ("priority-inversion", name, name)
    rivals = inversion.detail["ran_instead"]
    assert isinstance(rivals, list)
    assert [entry["thread"] for entry in rivals] == [name]
    assert {(wait.thread, wait.owner) for wait in waits} == {(name, "owner"), ("owner", name)}


def test_arguments_of_wrong_types(find: Find) -> None:
    """An argument of another type than the recorder's counts as unknown instead of failing."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    name = "monitor contention with owner owner (102) waiters=0"
    begin: Args = {"lock": 7, "lock_id": "x", "owner_tid": "102"}
    end: Args = {"result": 5, "gil_ns": "much", "owner_wait_ns": "some", "owner_nice": "none"}
    trace.slice(waiter, name, 1 * MS, 9 * MS, "lock", begin, end)
    trace.instant(101, 0, "thread facts", nice="low")
    trace.instant(101, 0, "events dropped", count="many")
    trace.instant(1_000_100, 0, "session", sched=3)
    (finding,) = find(trace).findings
    assert (finding.owner, finding.detail["lock"], finding.detail["gil_ns"]) == (owner.name, "7", None)


def test_negative_counters(find: Find) -> None:
    """Counters that ran backwards give no negative time."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 1 * MS, 9 * MS, end_args={"owner_wait_ns": -5, "owner_run_ns": -5})
    assert [finding.kind for finding in find(trace).findings] == ["lock-contention"]


def test_wait_of_no_length(find: Find) -> None:
    """A wait that began and ended at once is counted with 0 ns."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 1 * MS, 1 * MS)
    (finding,) = find(trace).findings
    assert (finding.count, finding.dur_ns, finding.detail["total_ns"]) == (1, 0, 0)


def test_thread_that_waits_for_itself_in_contention(find: Find) -> None:
    """A slice that names its own thread as owner makes no rule run in circles."""
    trace = TraceBuilder()
    thread = trace.thread(100, 101, "odd")
    trace.contention(thread, thread, 1 * MS, 90 * MS, result="timeout")
    assert [finding.kind for finding in find(trace).findings] == ["lock-contention"]


def test_names_of_any_length(find: Find, load: Load) -> None:
    """Names of hundreds of kilobytes break neither a rule nor the SQL behind it."""
    trace, long = TraceBuilder(), "a" * 200_000
    main = trace.thread(100, 100, "main")
    site = f"void android.os.MessageQueue.{long}(int)(X.java:1)"
    trace.slice(main, f"monitor contention with owner {long} (109) at {site} waiters=0", 1 * MS, 9 * MS)
    trace.slice(main, f"android.os.Handler: {long}", 10 * MS, 40 * MS)
    trace.slice(main, f"Looper.dispatch: {long}({long}", 50 * MS, 90 * MS)
    trace.log(
        main, 300 * MS, f"Long monitor contention with owner {long} (1) at {site} waiters=0 in x for 9ms"
    )
    trace.log(main, 400 * MS, f"Slow dispatch took 100ms main h={long} c={long} m=0", tag="Looper")
    trace.log(main, 500 * MS, f"[{long},1,x,5,{long},1,{long},2,3]", tag="dvm_lock_sample")
    assert "lock-contention" in {finding.kind for finding in find(trace).findings}
    tp = load(trace)
    for kind, _ in RULES:
        tp.rows(sql_of(kind))
