"""The rule `updater-hotspot`: calls of Atomic*FieldUpdater in ART method traces."""

from pathlib import Path

import pytest
from tests.findings.builder import MS, Thread, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Finding, FindingSet, sql_of

ATOMIC = "java.util.concurrent.atomic."
REFERENCE = f"{ATOMIC}AtomicReferenceFieldUpdater$AtomicReferenceFieldUpdaterImpl"
COMPARE = f"{REFERENCE}.compareAndSet: (Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Z"
CHECK = f"{REFERENCE}.accessCheck: (Ljava/lang/Object;)V"
SEND = "kotlinx.coroutines.channels.BufferedChannel.send: (Ljava/lang/Object;)V"
CANCEL = "kotlinx.coroutines.JobSupport.cancel: ()V"


def hotspots(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == "updater-hotspot"]


def call(trace: TraceBuilder, thread: Thread, start: int, *methods: tuple[str, int]) -> None:
    """Adds methods that call each other, all from `start`, outermost first, with their lengths."""
    for name, length in methods:
        trace.slice(thread, name, start, start + length)


def test_calls_by_caller(find: Find) -> None:
    """What an updater calls is its own time; callers and threads are told apart, most time first."""
    trace = TraceBuilder()
    main, worker = trace.thread(100, 100, "main"), trace.thread(100, 101, "worker")
    call(trace, main, 0, ("app.Main.run: ()V", 100 * MS))
    call(trace, main, 1 * MS, (SEND, 20 * MS), (COMPARE, 4 * MS), (CHECK, 3 * MS))
    call(trace, main, 30 * MS, (SEND, 20 * MS), (COMPARE, 2 * MS))
    call(trace, worker, 0, (CANCEL, 50 * MS), (COMPARE, 1 * MS))
    (finding,) = hotspots(find(trace))
    assert (finding.severity, finding.count, finding.dur_ns, finding.ts_ns) == ("high", 3, 4 * MS, 1 * MS)
    assert (finding.thread, finding.where) == ("main", "kotlinx.coroutines.channels.BufferedChannel.send()")
    detail = finding.detail
    assert (detail["total_ns"], detail["share"], detail["check_ns"]) == (7 * MS, 0.06, 3 * MS)
    assert detail["callers"] == [
        {
            "where": "kotlinx.coroutines.channels.BufferedChannel.send()",
            "count": 2,
            "total_ns": 6 * MS,
            "worst_ns": 4 * MS,
        },
        {
            "where": "kotlinx.coroutines.JobSupport.cancel()",
            "count": 1,
            "total_ns": 1 * MS,
            "worst_ns": 1 * MS,
        },
    ]
    assert detail["summary"] == (
        "main spent 6.0% of its traced time in Atomic*FieldUpdater; all threads together 7 ms in 3 calls, "
        "above all for BufferedChannel.send()."
    )
    assert finding.advice.endswith("'unjank atomics optimize' on the jars of kotlinx.coroutines.")


@pytest.mark.parametrize(
    ("length", "severity"),
    [(5 * MS, "high"), (5 * MS - 1, "medium"), (1 * MS, "medium"), (1 * MS - 1, "low")],
)
def test_severity_by_share(find: Find, length: int, severity: str) -> None:
    """5 % of a thread's time is high, 1 % medium."""
    trace = TraceBuilder()
    call(trace, trace.thread(100, 100, "main"), 0, ("app.Main.run: ()V", 100 * MS), (COMPARE, length))
    (finding,) = hotspots(find(trace))
    assert finding.severity == severity


def test_other_atomics_are_fine(find: Find) -> None:
    """AtomicReference and its like check nothing by reflection."""
    trace = TraceBuilder()
    call(trace, trace.thread(100, 100, "main"), 0, (f"{ATOMIC}AtomicReference.compareAndSet: ()Z", 9 * MS))
    assert hotspots(find(trace)) == []


@pytest.mark.parametrize(
    ("name", "count", "total_ns", "share", "caller"),
    [
        (
            "art_method_streaming.trace.gz",
            11,
            32_508_000,
            0.002468,
            "kotlinx.coroutines.CompletedExceptionally.makeHandled()",
        ),
        (
            "art_method_regular.trace.gz",
            5,
            34_586_000,
            0.003606,
            "kotlinx.coroutines.EventLoopImplBase.enqueueImpl()",
        ),
    ],
)
def test_real_method_traces(
    find: Find, load: Load, traces_dir: Path, name: str, count: int, total_ns: int, share: float, caller: str
) -> None:
    """Traces of a browser: calls from kotlinx.coroutines, a fraction of a percent of its time."""
    (finding,) = hotspots(find(traces_dir / name))
    assert (finding.count, finding.detail["total_ns"], finding.severity) == (count, total_ns, "low")
    assert finding.detail["share"] == pytest.approx(share, abs=1e-6)
    assert (finding.thread, finding.where) == ("main", caller)
    rows = load(traces_dir / name).rows(sql_of("updater-hotspot"))
    assert sum(int(str(row["total_ns"])) for row in rows) == total_ns
