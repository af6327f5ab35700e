"""The rule `priority-inversion`."""

import pytest
from tests.findings.builder import MS, US, Run, Thread, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Finding, FindingSet

KIND = "priority-inversion"


def of_kind(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == KIND]


def threads(trace: TraceBuilder, *names: str) -> list[Thread]:
    """Threads of one process, none of them its main thread."""
    return [trace.thread(100, 101 + index, name) for index, name in enumerate(names)]


def launcher(*, off: int, owner_prio: int = 130, ui_prio: int = 120, name: str = "UI thread") -> TraceBuilder:
    """A thread waits 10 ms while the lock's owner is preempted for `off` ns of it."""
    trace = TraceBuilder()
    ui, owner, camera = threads(trace, name, "BackgroundExecutor", "camera-0")
    trace.contention(ui, owner, 10 * MS, 20 * MS)
    trace.schedule(
        0,
        [
            Run(ui, 9 * MS, 10 * MS, "S", ui_prio),
            Run(owner, 10 * MS, 11 * MS, "R+", owner_prio),
            Run(camera, 11 * MS, 11 * MS + off, "S", 125),
            Run(owner, 11 * MS + off, 20 * MS, "S", owner_prio),
            Run(ui, 20 * MS, 21 * MS, "S", ui_prio),
        ],
    )
    return trace


def test_preempted_owner(find: Find) -> None:
    """Who was kept off, how long, by whom, at what priorities: all of it, to the nanosecond."""
    (finding,) = of_kind(find(launcher(off=8 * MS)))
    detail = finding.detail
    assert (finding.thread, finding.owner, finding.ts_ns, finding.dur_ns, finding.count) == (
        "UI thread",
        "BackgroundExecutor",
        10 * MS,
        10 * MS,
        1,
    )
    assert detail["inversion"] is True
    assert detail["source"] == "sched"
    assert (detail["held_off_ns"], detail["owner_ran_ns"], detail["owner_blocked_ns"]) == (8 * MS, 2 * MS, 0)
    assert (detail["waiter_priority"], detail["waiter_nice"]) == (120, 0)
    assert (detail["owner_priority"], detail["owner_nice"]) == (130, 10)
    assert detail["cpus"] == [0]
    camera = {"thread": "camera-0", "tid": 103, "process": "app.py", "priority": 125, "nice": 5}
    assert detail["ran_instead"] == [{**camera, "total_ns": 8 * MS}]
    assert detail["summary"] == (
        "UI thread (app.py) waited 10 ms for Ledger._lock (bank.py:4), held by BackgroundExecutor in "
        "Ledger.post() (bank.py:20), which was kept off the CPU for 8 ms by camera-0 although the waiter has "
        "the higher priority."
    )


@pytest.mark.parametrize(
    ("off", "owner_prio", "name", "severity"),
    [
        (4 * MS, 121, "UI thread", "high"),
        (4 * MS - 1, 121, "UI thread", "medium"),
        (8 * MS, 121, "worker", "medium"),
        (8 * MS, 120, "UI thread", "medium"),
        (8 * MS, 110, "UI thread", "medium"),
    ],
)
def test_severity(find: Find, off: int, owner_prio: int, name: str, severity: str) -> None:
    """High takes an outranked owner and a quarter of a frame; without priorities it is medium."""
    (finding,) = of_kind(find(launcher(off=off, owner_prio=owner_prio, name=name)))
    assert finding.severity == severity


@pytest.mark.parametrize(("off", "severity"), [(1 * MS, "medium"), (1 * MS - 1, "low")])
def test_severity_of_short_times(find: Find, off: int, severity: str) -> None:
    """An owner that was kept off for less than a millisecond is of low severity, outranked or not."""
    trace = TraceBuilder()
    ui, owner, camera = threads(trace, "UI thread", "owner", "camera")
    trace.contention(ui, owner, 10 * MS, 12 * MS)
    back = Run(owner, 11 * MS + off, 13 * MS, "S", 130)
    trace.schedule(0, [Run(owner, 9 * MS, 11 * MS, "R+", 130), Run(camera, 11 * MS, 11 * MS + off), back])
    (finding,) = of_kind(find(trace))
    assert (finding.severity, finding.detail["held_off_ns"]) == (severity, off)


@pytest.mark.parametrize(("off", "found"), [(2 * MS, 1), (2 * MS - 1, 0)])
def test_share_of_the_wait(find: Find, off: int, found: int) -> None:
    """Below a fifth of the wait the missing CPU does not explain it."""
    assert len(of_kind(find(launcher(off=off)))) == found


def test_equal_priority_is_said_to_be_held_off(find: Find) -> None:
    """Without a difference in priority it is not called an inversion."""
    (finding,) = of_kind(find(launcher(off=8 * MS, owner_prio=120)))
    assert finding.detail["inversion"] is False
    assert str(finding.detail["summary"]).endswith("kept off the CPU for 8 ms by camera-0.")
    assert "fewer busy threads" in finding.advice


def test_short_waits_are_left_alone(find: Find) -> None:
    """A wait below a tenth of a millisecond is explained by the switch of threads itself."""
    trace = TraceBuilder()
    waiter, owner, other = threads(trace, "waiter", "owner", "other")
    trace.contention(waiter, owner, 10 * MS, 10 * MS + 99 * US)
    trace.schedule(0, [Run(owner, 9 * MS, 10 * MS, "R+"), Run(other, 10 * MS, 12 * MS)])
    assert of_kind(find(trace)) == []


def test_running_owner_is_no_inversion(find: Find) -> None:
    """An owner that ran all the time is slow, not kept off."""
    trace = TraceBuilder()
    waiter, owner = threads(trace, "waiter", "owner")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    trace.schedule(0, [Run(owner, 9 * MS, 21 * MS, "S", 139)])
    assert of_kind(find(trace)) == []


def test_sleeping_owner_is_no_inversion(find: Find) -> None:
    """An owner that slept with the lock held did not want a CPU."""
    trace = TraceBuilder()
    waiter, owner, other = threads(trace, "waiter", "owner", "other")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    trace.schedule(
        0, [Run(owner, 9 * MS, 11 * MS, "S", 139), Run(other, 11 * MS, 19 * MS), Run(owner, 19 * MS, 20 * MS)]
    )
    assert of_kind(find(trace)) == []


def test_woken_owner_waits_for_the_cpu_it_runs_on_next(find: Find) -> None:
    """A woken owner's rivals are those of the CPU the kernel chose for it, not of its last one."""
    trace = TraceBuilder()
    waiter, owner, here, there = threads(trace, "waiter", "owner", "here", "there")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    trace.schedule(0, [Run(owner, 9 * MS, 11 * MS, "S", 130), Run(here, 11 * MS, 12 * MS)])
    trace.waking(12 * MS, owner, 1, prio=130)
    trace.schedule(1, [Run(there, 8 * MS, 18 * MS), Run(owner, 18 * MS, 20 * MS, "S", 130)])
    (finding,) = of_kind(find(trace))
    assert (finding.detail["held_off_ns"], finding.detail["owner_blocked_ns"]) == (6 * MS, 1 * MS)
    assert finding.detail["cpus"] == [1]
    rivals = finding.detail["ran_instead"]
    assert isinstance(rivals, list)
    assert [(rival["thread"], rival["total_ns"]) for rival in rivals] == [("there", 6 * MS)]


def test_idle_cpu_is_not_taken(find: Find) -> None:
    """A wake-up that takes long on an idle CPU is nobody's doing."""
    trace = TraceBuilder()
    waiter, owner, other = threads(trace, "waiter", "owner", "other")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    trace.waking(11 * MS, owner, 0)
    trace.schedule(0, [Run(owner, 9 * MS, 10 * MS, "S", 130), Run(owner, 19 * MS, 20 * MS, "S", 130)])
    trace.schedule(1, [Run(other, 9 * MS, 20 * MS)])
    assert of_kind(find(trace)) == []


def test_waiter_is_not_its_own_rival(find: Find) -> None:
    """A waiter that spins on the owner's CPU is not counted as somebody else."""
    trace = TraceBuilder()
    waiter, owner = threads(trace, "waiter", "owner")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    trace.schedule(
        0,
        [Run(owner, 9 * MS, 10 * MS, "R+", 130), Run(waiter, 10 * MS, 19 * MS), Run(owner, 19 * MS, 20 * MS)],
    )
    assert of_kind(find(trace)) == []


def test_owner_outranked_by_who_waits_behind(find: Find) -> None:
    """A thread that waits for the waiter lends it its priority, and its person."""
    trace = TraceBuilder()
    ui, middle, owner, other = threads(trace, "UI thread", "middle", "owner", "other")
    trace.contention(middle, owner, 10 * MS, 20 * MS, lock="B", lock_id=2)
    trace.contention(ui, middle, 11 * MS, 21 * MS, lock="A")
    trace.schedule(
        0,
        [
            Run(middle, 8 * MS, 9 * MS, "S", 130),
            Run(owner, 9 * MS, 11 * MS, "R+", 130),
            Run(other, 11 * MS, 19 * MS, "S", 125),
            Run(owner, 19 * MS, 20 * MS, "S", 130),
            Run(ui, 21 * MS, 22 * MS, "S", 120),
        ],
    )
    (finding,) = of_kind(find(trace))
    assert (finding.thread, finding.owner, finding.severity) == ("middle", "owner", "high")
    assert (finding.detail["waiter_priority"], finding.detail["owner_priority"]) == (120, 130)


def test_long_hold_off_over_many_pages(find: Find) -> None:
    """Rivals are counted once although the CPU's history is read in pieces of 100 ms."""
    trace = TraceBuilder()
    waiter, owner, first, second = threads(trace, "waiter", "owner", "first", "second")
    trace.contention(waiter, owner, 50 * MS, 1050 * MS)
    trace.schedule(
        0,
        [
            Run(owner, 40 * MS, 60 * MS, "R+", 130),
            Run(first, 60 * MS, 777 * MS, "R+"),
            Run(second, 777 * MS, 1000 * MS),
            Run(owner, 1000 * MS, 1050 * MS, "S", 130),
        ],
    )
    (finding,) = of_kind(find(trace))
    rivals = finding.detail["ran_instead"]
    assert isinstance(rivals, list)
    assert [(r["thread"], r["total_ns"]) for r in rivals] == [("first", 717 * MS), ("second", 223 * MS)]
    assert finding.detail["held_off_ns"] == 940 * MS


def schedstat(**args: int) -> TraceBuilder:
    """A 10 ms wait of a thread at nice 0 with what /proc said of the owner."""
    trace = TraceBuilder()
    trace.session(100, sched="procfs", sched_reason="not root")
    ui, owner = threads(trace, "UI thread", "owner")
    trace.instant(ui.tid, 0, "thread facts", nice=0)
    trace.contention(ui, owner, 10 * MS, 20 * MS, end_args=args)
    return trace


def test_from_schedstat(find: Find) -> None:
    """Without the kernel's scheduling, the owner's counters tell how long, and that nobody knows who."""
    found = find(schedstat(owner_run_ns=3 * MS, owner_wait_ns=6 * MS, owner_nice=10))
    (finding,) = of_kind(found)
    detail = finding.detail
    assert (finding.severity, detail["source"], detail["inversion"]) == ("high", "schedstat", True)
    assert (detail["held_off_ns"], detail["owner_ran_ns"], detail["owner_blocked_ns"]) == (
        6 * MS,
        3 * MS,
        1 * MS,
    )
    assert (detail["owner_nice"], detail["waiter_nice"], detail["ran_instead"]) == (10, 0, [])
    assert "--sched ftrace" in finding.advice
    assert any("(not root): who had the CPU meanwhile is not known" in note for note in found.notes)


def test_schedstat_is_cut_to_the_wait(find: Find) -> None:
    """The counters are read a moment before and after: they never give more time than the wait had."""
    (finding,) = of_kind(find(schedstat(owner_run_ns=9 * MS, owner_wait_ns=11 * MS, owner_nice=0)))
    detail = finding.detail
    assert (detail["held_off_ns"], detail["owner_ran_ns"], detail["owner_blocked_ns"]) == (10 * MS, 0, 0)


def test_schedstat_of_unknown_priorities(find: Find) -> None:
    """A lowered owner is outranked even where the waiter's priority is not known."""
    trace = TraceBuilder()
    ui, owner = threads(trace, "UI thread", "owner")
    counters = {"owner_run_ns": 0, "owner_wait_ns": 9 * MS, "owner_nice": 5}
    trace.contention(ui, owner, 10 * MS, 20 * MS, end_args=counters)
    (finding,) = of_kind(find(trace))
    assert (finding.detail["inversion"], finding.detail["waiter_priority"]) == (True, None)


def test_nothing_measured_nothing_said(find: Find) -> None:
    """Without scheduling and counters there is no such finding, but a note on it."""
    found = find(schedstat())
    assert of_kind(found) == []
    assert any("Of the scheduling only" in note for note in found.notes)


def test_sched_wins_over_schedstat(find: Find) -> None:
    """Where both were recorded, the kernel's scheduling counts, since it knows who ran."""
    trace = launcher(off=8 * MS)
    ui, owner = Thread(100, 101, "UI thread"), Thread(100, 102, "BackgroundExecutor")
    counters = {"owner_wait_ns": 9 * MS, "owner_run_ns": 0}
    trace.contention(ui, owner, 30 * MS, 40 * MS, lock="Other", lock_id=2, end_args=counters)
    assert [f.detail["source"] for f in of_kind(find(trace))] == ["sched"]


def test_realtime_priority_has_no_nice(find: Find) -> None:
    """Priorities below 100 are real-time classes, without a nice value."""
    (finding,) = of_kind(find(launcher(off=8 * MS, ui_prio=97)))
    assert (finding.detail["waiter_priority"], finding.detail["waiter_nice"]) == (97, None)


def test_agrees_with_perfettos_library(load: Load) -> None:
    """Perfetto's own tables, which our slices feed, tell the same time off the CPU."""
    rows = load(launcher(off=8 * MS)).query(
        """
        INCLUDE PERFETTO MODULE android.monitor_contention;
        SELECT thread_state AS state, thread_state_dur AS dur
        FROM android_monitor_contention_chain_thread_state_by_txn
        WHERE thread_state = 'R+'
        """
    )
    assert [(row.state, row.dur) for row in rows] == [("R+", 8 * MS)]
