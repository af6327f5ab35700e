"""Messages of Android's loopers: `slow-dispatch`, `queue-delay`, and `queue-backlog` from the category mq."""

from pathlib import Path

import pytest
from tests.findings.builder import MS, Run, Thread, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Finding, FindingSet, sql_of

TRAVERSER = "android.os.Handler: com.android.server.wm.WindowSurfacePlacer$Traverser"


def of_kind(found: FindingSet, kind: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in found.findings if finding.kind == kind]


def android() -> tuple[TraceBuilder, Thread, Thread]:
    """A process with a main thread and another one."""
    trace = TraceBuilder()
    trace.process(100, "com.example")
    return trace, trace.thread(100, 100, "main"), trace.thread(100, 101, "worker")


def test_slow_message(find: Find) -> None:
    """Messages of one kind are one finding: the slow ones counted, all of them summed beside."""
    trace, main, _ = android()
    for start, length in ((10, 20), (40, 5), (50, 16)):
        trace.slice(main, TRAVERSER, start * MS, (start + length) * MS)
    (finding,) = of_kind(find(trace), "slow-dispatch")
    assert (finding.severity, finding.count, finding.dur_ns, finding.ts_ns) == ("medium", 2, 20 * MS, 10 * MS)
    assert finding.where == "com.android.server.wm.WindowSurfacePlacer$Traverser"
    detail = finding.detail
    assert (detail["total_ns"], detail["runs"], detail["run_ns"], detail["logged"]) == (
        36 * MS,
        3,
        41 * MS,
        0,
    )
    assert detail["summary"] == (
        "main (com.example) ran wm.WindowSurfacePlacer$Traverser for 20 ms at once; 2 messages of that kind "
        "took a frame or longer, 36 ms together, and those behind them had to wait."
    )


@pytest.mark.parametrize(
    ("tid", "length", "severity"),
    [
        (100, 100 * MS, "high"),
        (100, 100 * MS - 1, "medium"),
        (100, 16 * MS, "medium"),
        (100, 16 * MS - 1, None),
        (101, 100 * MS, "medium"),
        (101, 100 * MS - 1, None),
    ],
)
def test_bounds(find: Find, tid: int, length: int, severity: str | None) -> None:
    """A frame on a thread that a person waits for, a noticeable time on any other."""
    trace, main, worker = android()
    trace.slice(main if tid == 100 else worker, TRAVERSER, 10 * MS, 10 * MS + length)
    assert [f.severity for f in of_kind(find(trace), "slow-dispatch")] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("android.app.ActivityThread$H: #159", "android.app.ActivityThread$H #159"),
        (
            "Looper.dispatch: android.os.Handler(org.chromium.base.task.TaskRunnerImpl$$Lambda0@31a7fc2)",
            "org.chromium.base.task.TaskRunnerImpl$$Lambda0",
        ),
        (
            "Looper.dispatch: android.hardware.display.DisplayManagerGlobal$Listener(null)",
            "android.hardware.display.DisplayManagerGlobal$Listener",
        ),
        ("kotlinx.coroutines.JobSupport.cancel: ()V", None),
        ("Compact file: com.example", None),
        ("relayoutWindow: com.example", None),
        ("com.example.Main.run", None),
    ],
)
def test_which_slices_are_messages(find: Find, name: str, where: str | None) -> None:
    """Handlers' slices in Android's and Chrome's wording are messages, others with a colon are not."""
    trace, main, _ = android()
    trace.slice(main, name, 10 * MS, 60 * MS)
    assert [f.where for f in of_kind(find(trace), "slow-dispatch")] == ([where] if where else [])


def test_message_without_an_end_is_left_out(find: Find) -> None:
    """A process's first message may hold a native loop that runs for good."""
    trace, main, _ = android()
    trace.slice(main, TRAVERSER, 10 * MS, None)
    trace.instant(100, 900 * MS, "later")
    assert of_kind(find(trace), "slow-dispatch") == []


def test_slow_messages_in_logcat(find: Find) -> None:
    """What a looper logs is counted, but not what is a slice as well."""
    trace, main, _ = android()
    log = "Slow dispatch took {}ms main h=android.os.Handler c=com.example.Sync$1@16bc63 m=0"
    trace.slice(main, "android.os.Handler: com.example.Sync$1", 10 * MS, 130 * MS)
    trace.log(main, 131 * MS, log.format(120), tag="Looper")
    trace.log(main, 700 * MS, log.format(300), tag="Looper")
    (finding,) = of_kind(find(trace), "slow-dispatch")
    assert (finding.count, finding.dur_ns, finding.ts_ns) == (2, 300 * MS, 400 * MS)
    assert (finding.where, finding.detail["logged"]) == ("com.example.Sync$1", 1)


def test_message_whose_callback_was_recycled(find: Find) -> None:
    """A pooled callback has no name any more when it is logged: the message's number stands for it."""
    trace, main, _ = android()
    text = "Slow dispatch took 300ms main h=android.os.Handler c=<recycled PooledLambda@88b6b2e> m=7"
    trace.log(main, 700 * MS, text, tag="Looper")
    (finding,) = of_kind(find(trace), "slow-dispatch")
    assert finding.where == "android.os.Handler #7"


def test_late_messages_in_logcat(find: Find) -> None:
    """Late messages of one looper are one finding, with the latest of them."""
    trace, main, _ = android()
    for ts, late, what in ((500, 210, 1), (900, 265, 12)):
        text = f"Slow delivery took {late}ms main h=android.app.ActivityThread$H c=null m={what}"
        trace.log(main, ts * MS, text, tag="Looper")
    trace.log(main, 950 * MS, "Drained", tag="Looper")
    (finding,) = of_kind(find(trace), "queue-delay")
    assert (finding.severity, finding.count, finding.dur_ns, finding.ts_ns) == ("high", 2, 265 * MS, 635 * MS)
    assert (finding.where, finding.detail["total_ns"]) == ("android.app.ActivityThread$H #12", 475 * MS)


@pytest.mark.parametrize(
    ("ran_to", "words", "advice"),
    [
        (700, "had no CPU for 200 ms of that", "could run but had no CPU for 200 ms of 265 ms"),
        (800, None, "Look for what main ran before that message"),
    ],
)
def test_late_message_of_a_thread_without_a_cpu(
    find: Find, ran_to: int, words: str | None, advice: str
) -> None:
    """Where the looper's thread could not run for most of the delay, that is what is told and advised on."""
    trace, main, worker = android()
    runs = [(main, 600, ran_to, "R+"), (worker, ran_to, 900, "S"), (main, 900, 910, "S")]
    trace.schedule(0, [Run(thread, start * MS, end * MS, state) for thread, start, end, state in runs])
    text = "Slow delivery took 265ms main h=android.os.Handler c=null m=12"
    trace.log(main, 900 * MS, text, tag="Looper")
    (finding,) = of_kind(find(trace), "queue-delay")
    assert finding.detail["looper_states"] == {"R+": (900 - ran_to) * MS, "Running": (ran_to - 635) * MS}
    assert (words or "late.") in str(finding.detail["summary"])
    assert advice in finding.advice
    assert "to see whether it had a CPU" not in finding.advice


def test_slow_message_of_a_thread_without_a_cpu(find: Find) -> None:
    """A message that took long since its thread had no CPU is none to be moved to another thread."""
    trace, main, worker = android()
    runs = [(main, 10, 20, "R+"), (worker, 20, 100, "S"), (main, 100, 130, "S")]
    trace.schedule(0, [Run(thread, start * MS, end * MS, state) for thread, start, end, state in runs])
    trace.slice(main, TRAVERSER, 10 * MS, 130 * MS)
    (finding,) = of_kind(find(trace), "slow-dispatch")
    assert finding.detail["looper_states"] == {"R+": 80 * MS, "Running": 40 * MS}
    assert "could run but had no CPU for 80 ms of 120 ms" in finding.advice


def test_jank_trace(find: Find, traces_dir: Path) -> None:
    """A real trace whose loopers told logcat of two late messages: 265 and 54 ms."""
    found = of_kind(find(traces_dir / "android_jank_cpu_sampling.pftrace"), "queue-delay")
    assert [(f.process, f.thread, f.dur_ns // MS, f.where) for f in found] == [
        ("system_server", "system_server", 265, "android.os.Handler #0"),
        ("com.android.systemui", "wmshell.main", 54, "android.os.Handler #12"),
    ]
    assert [f.detail["looper_states"] for f in found] == [
        {"R": 264_623_900, "Running": 320_100, "S": 56_000},
        {"R": 53_583_400, "Running": 325_200},
    ]


def test_api32_messages(load: Load, api32_trace: Path) -> None:
    """A real trace with Handlers' slices: 129 messages are read, the longest took 9.04 ms."""
    tp = load(api32_trace)
    assert tp.rows(sql_of("slow-dispatch")) == []
    (row,) = tp.rows("SELECT COUNT() AS messages, MAX(dur) AS longest FROM unjank_dispatch")
    assert (row["messages"], row["longest"]) == (129, 9_044_271)


def test_backlog_of_an_android_looper(find: Find) -> None:
    """Android's own category mq tells posts, delays and runs: a looper that falls behind is found by it."""
    trace, main, worker = android()
    for index in range(12):
        trace.android_post(worker, "main", (10 + index) * MS, code=7, delay_ms=3, flow=index + 1)
        trace.android_receive(main, (40 + index) * MS, (41 + index) * MS, flow=index + 1)
    (finding,) = of_kind(find(trace), "queue-backlog")
    assert (finding.thread, finding.owner, finding.count, finding.detail["peak"]) == (
        "main",
        "worker",
        12,
        12,
    )
    assert finding.dur_ns == 27 * MS
    assert finding.detail["total_ns"] == 12 * 27 * MS
    callbacks = finding.detail["callbacks"]
    assert isinstance(callbacks, list)
    assert [(c["callback"], c["count"]) for c in callbacks] == [("#7", 11)]
