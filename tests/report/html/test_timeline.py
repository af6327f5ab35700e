"""What a picture shows is what the trace has, by SQL that anyone can run."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

from tests.findings.builder import MS, Run, Thread, TraceBuilder
from tests.report.html.conftest import Open
from tests.report.launcher import launcher

from unjank.findings import Finding
from unjank.report.html._timeline import Lane, Timeline, read_timeline

END = 28 * MS + 200_000


def timeline_of(opened: Open, builder: TraceBuilder, kind: str) -> Timeline:
    """The timeline of the worst finding of a kind."""
    evidence, found = opened(builder)
    timeline = read_timeline(evidence, next(each for each in found.findings if each.kind == kind))
    assert timeline is not None
    return timeline


def spans(lane: Lane) -> list[tuple[str, int, int]]:
    """The lower strip of a lane."""
    return [(span.kind, span.start, span.end) for span in lane.lower]


def test_waiter_owner_and_who_ran(opened: Open) -> None:
    """The waiter with its wait, the owner with its states, and below them who ran on the owner's CPU."""
    timeline = timeline_of(opened, launcher(), "priority-inversion")
    waiter, owner, cpu = timeline.lanes
    assert (waiter.name, owner.name, cpu.name) == ("UI thread", "BackgroundExecutor", "CPU 0")
    assert [(span.kind, span.start, span.end) for span in waiter.upper] == [("wait", 10 * MS, END)]
    assert waiter.upper[0].label == "waits 18.2 ms for Queue._lock (launcher.py:41)"
    assert ("runnable", 11 * MS, 26 * MS + 900_000) in spans(owner)
    assert ("running", 10 * MS, 11 * MS) in spans(owner)
    order = ["UI thread", "BackgroundExecutor", "camera-0", "camera-1", "BackgroundExecutor", "UI thread"]
    assert [span.label for span in cpu.lower] == order
    assert [span.kind for span in cpu.lower][2:4] == ["rank-0", "rank-1"]


def test_thread_without_a_name(opened: Open) -> None:
    """Who ran on the CPU is told by the thread's id where its name is empty."""
    trace = launcher()
    nameless = Thread(999, 999, "")
    trace.schedule(0, [Run(nameless, 29 * MS + 100_000, 29 * MS + 900_000)])
    timeline = timeline_of(opened, trace, "priority-inversion")
    assert "thread 999" in [each.thread for each in timeline.on_cpu]
    assert "" not in [each.thread for each in timeline.on_cpu]


def test_shows_a_little_more_than_the_wait(opened: Open) -> None:
    """What came before and after the wait is in the picture, up to the trace's ends."""
    timeline = timeline_of(opened, launcher(), "priority-inversion")
    assert (timeline.lost_from, timeline.lost_to) == (10 * MS, END)
    assert 0 < timeline.lost_from - timeline.start <= 3 * MS
    assert timeline.end == 29 * MS


def test_its_sql_runs_and_gives_the_picture(opened: Open) -> None:
    """The statements shown give the spans drawn; of the last one all rows are those of the CPU's lane."""
    evidence, found = opened(launcher())
    timeline = read_timeline(evidence, found.findings[0])
    assert timeline is not None
    rows = list(evidence.tp.query(timeline.sql))
    assert [(row.ts, row.end_ts) for row in rows] == [(s.start, s.end) for s in timeline.lanes[-1].lower]
    assert len(timeline.sql.split(";\n\n")) == 3


def test_without_scheduling(opened: Open) -> None:
    """Waits alone make a picture too; of the owner it says that nothing was recorded."""
    timeline = timeline_of(opened, launcher(sched=False), "lock-contention")
    waiter, owner = timeline.lanes
    assert [span.kind for span in waiter.upper] == ["wait"]
    assert spans(owner) == [("unknown", 10 * MS, END)]
    assert timeline.on_cpu == ()


def test_chain(opened: Open) -> None:
    """The one who holds up the owner is in the picture, below the owner."""
    trace = TraceBuilder()
    first, second, third = (trace.thread(100, 101 + n, name) for n, name in enumerate("abc"))
    trace.contention(first, second, 10 * MS, 40 * MS)
    trace.contention(second, third, 5 * MS, 39 * MS, lock="Other (bank.py:9)", lock_id=2)
    evidence, found = opened(trace)
    finding = next(each for each in found.findings if each.thread == "a")
    timeline = read_timeline(evidence, finding)
    assert timeline is not None
    roles = [(lane.name, lane.role) for lane in timeline.lanes]
    assert roles == [("a", "waits"), ("b", "holds the lock"), ("c", "holds up b")]
    assert [span.kind for span in timeline.lanes[1].upper] == ["wait"]


def test_circle(opened: Open) -> None:
    """Of a deadlock all threads are shown with their waits."""
    trace = TraceBuilder()
    first, second = trace.thread(100, 101, "a"), trace.thread(100, 102, "b")
    trace.contention(first, second, 10 * MS, 400 * MS, lock_id=1, result="timeout")
    trace.contention(second, first, 20 * MS, 410 * MS, lock_id=2)
    timeline = timeline_of(opened, trace, "deadlock-cycle")
    assert {lane.name for lane in timeline.lanes} == {"a", "b"}
    assert all(lane.upper[0].kind == "wait" for lane in timeline.lanes)


def test_backlog(opened: Open) -> None:
    """Of a flooded looper the messages it ran are shown, and the posts of those who flooded it."""
    trace = TraceBuilder()
    looper, poster = trace.thread(100, 101, "ui"), trace.thread(100, 102, "flooder")
    for n in range(12):
        trace.post(poster, looper, n * MS, flow=n + 1)
        trace.dispatch(looper, (20 + n * 10) * MS, (28 + n * 10) * MS, delay=(20 + n * 9) * MS, flow=n + 1)
    timeline = timeline_of(opened, trace, "queue-backlog")
    ui, flooder = timeline.lanes
    assert (ui.name, ui.role, flooder.name, flooder.role) == ("ui", "looper", "flooder", "posts")
    assert {span.kind for span in ui.upper} == {"message"}
    assert {span.kind for span in flooder.upper} == {"post"}


def test_switch_that_the_kernel_hid(opened: Open) -> None:
    """A run without an end lasts until the next on that CPU, not to the end of the trace."""
    trace = launcher()
    hidden = trace.thread(200, 201, "hidden")
    trace.schedule(0, [Run(hidden, 15 * MS, 15 * MS + 1)])
    evidence, found = opened(trace)
    timeline = read_timeline(evidence, found.findings[0])
    assert timeline is not None
    lane = timeline.lanes[-1].lower
    assert all(span.end <= following.start for span, following in pairwise(lane))


def test_nobody_known_for_certain(opened: Open) -> None:
    """A finding on a thread that is not in the trace, or there twice, has no picture."""
    trace = launcher()
    trace.thread(100, 150, "twin")
    trace.thread(100, 151, "twin")
    evidence, found = opened(trace)
    for name in ("twin", "nobody"):
        finding = replace(found.findings[0], thread=name, owner=None, ts_ns=1, detail={})
        assert read_timeline(evidence, finding) is None


def finding_like(template: Finding, **changes: Any) -> Finding:
    """A finding of another kind on the same threads."""
    return replace(template, **{"owner": None, "detail": {}, **changes})


def test_pair_that_wakes_each_other(opened: Open) -> None:
    """Of a pair both threads are shown, also of two processes, and the CPUs that both had."""
    trace = launcher()
    trace.thread(300, 301, "other")
    evidence, found = opened(trace)
    pair = [{"thread": "camera-0", "tid": 103}, {"thread": "other", "tid": 301, "process": "app.py"}]
    finding = finding_like(found.findings[0], kind="cross-core-handoff", detail={"pair": pair})
    timeline = read_timeline(evidence, finding)
    assert timeline is not None
    assert [lane.name for lane in timeline.lanes] == ["camera-0", "other", "CPU 0"]
    assert [span.kind for span in timeline.lanes[0].upper] == ["event"]


def test_thread_alone(opened: Open) -> None:
    """What one thread did by itself is marked on it, with its kind and length, and its CPU is shown."""
    evidence, found = opened(launcher())
    detail = {"tid": 103, "summary": "camera-0 was slow."}
    finding = finding_like(found.findings[0], kind="slow-dispatch", thread="camera-0", detail=detail)
    timeline = read_timeline(evidence, finding)
    assert timeline is not None
    thread, cpu = timeline.lanes
    assert [(span.kind, span.label) for span in thread.upper] == [("event", "slow-dispatch, 18.2 ms")]
    assert "camera-0 was slow." in thread.upper[0].words
    assert cpu.name == "CPU 0"


def test_many_switches_are_put_together(opened: Open) -> None:
    """Of tens of thousands of runs the picture has a bounded number, and no time is lost or counted twice."""
    trace = TraceBuilder()
    trace.session(trace.process(100, "app.py"), sched="ftrace")
    waiter, owner, rival = (trace.thread(100, 101 + n, name) for n, name in enumerate("abc"))
    step, count = 2_000, 6_000
    trace.contention(waiter, owner, 0, step * count)
    runs = [Run((owner, rival)[n % 2], n * step, (n + 1) * step, "R+") for n in range(count)]
    trace.schedule(0, runs)
    timeline = timeline_of(opened, trace, "priority-inversion")
    cpu = timeline.lanes[-1].lower
    assert len(cpu) <= 2 * 1601
    assert sum(span.lasted for span in cpu) == step * count
    assert any(span.words.endswith(" pieces") for span in cpu)
