"""The rules `queue-contention-jank` and `queue-contention-startup`, and the published queries beside them."""

from pathlib import Path

import pytest
from tests.findings.builder import MS, SURFACE_FLINGER_SCHEDULING, US, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Finding, FindingSet, sql_of
from unjank.trace import Row, TraceProcessor

JANK, STARTUP = "queue-contention-jank", "queue-contention-startup"
ENQUEUE = "boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)(MessageQueue.java:563)"
NEXT = "android.os.Message android.os.MessageQueue.next()(MessageQueue.java:335)"
OTHER = "void com.example.Cache.put(int)(Cache.java:9)"


def of_kind(found: FindingSet, kind: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in found.findings if finding.kind == kind]


def app(*waits: tuple[int, int], site: str = NEXT, owner_site: str = ENQUEUE, tid: int = 100) -> TraceBuilder:
    """A process whose thread waits in each span, by default the main thread for its queue's lock."""
    trace = TraceBuilder()
    trace.process(100, "com.example")
    waiter = trace.thread(100, tid, "main" if tid == 100 else "other")
    trace.thread(100, 109, "bg-thread")
    name = f"monitor contention with owner bg-thread (109) at {owner_site} waiters=0 blocking from {site}"
    for start, end in waits:
        trace.slice(waiter, name, start, end)
    return trace


def test_waits_in_an_app_with_late_frames(find: Find) -> None:
    """All waits of the main thread count, and apart from them the time that lies within late frames."""
    trace = app((10 * MS, 16 * MS), (30 * MS, 31 * MS))
    trace.frame(100, 8 * MS, 15 * MS)
    trace.frame(100, 12 * MS, 15 * MS)
    trace.frame(100, 40 * MS, 50 * MS)
    (finding,) = of_kind(find(trace), JANK)
    assert (finding.severity, finding.count, finding.dur_ns, finding.thread, finding.owner) == (
        "high",
        2,
        6 * MS,
        "main",
        "bg-thread",
    )
    detail = finding.detail
    assert (detail["total_ns"], detail["janky_frames"]) == (7 * MS, 3)
    assert (detail["in_janky_frames"], detail["in_janky_frames_ns"]) == (1, 5 * MS)
    assert detail["summary"] == (
        "The main thread of com.example waited 7 ms for its message queue's lock in 2 waits, 5 ms of it "
        "within the 3 frames that the app made late."
    )
    assert "SDK 37" in finding.advice


@pytest.mark.parametrize(
    ("waits", "severity"),
    [
        ([4 * MS], "high"),
        ([4 * MS - 1], "medium"),
        ([1 * MS], "medium"),
        ([1 * MS - 1], "low"),
        ([800 * US] * 5, "medium"),
        ([800 * US - 1] * 5, "low"),
    ],
)
def test_severity_by_the_time_within_late_frames(find: Find, waits: list[int], severity: str) -> None:
    """A quarter of a frame at once is high; a millisecond at once, or that quarter together, is medium."""
    trace = app(
        *((10 * MS + 5 * MS * index, 10 * MS + 5 * MS * index + wait) for index, wait in enumerate(waits))
    )
    trace.frame(100, 1 * MS, 90 * MS)
    (finding,) = of_kind(find(trace), JANK)
    assert finding.severity == severity


def test_whose_frames_count(find: Find) -> None:
    """Frames that others made late, or of other processes, are none of this app's."""
    trace = app((10 * MS, 16 * MS))
    trace.process(200, "com.other")
    trace.frame(200, 8 * MS, 20 * MS)
    trace.frame(100, 8 * MS, 20 * MS, jank=SURFACE_FLINGER_SCHEDULING)
    assert of_kind(find(trace), JANK) == []


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(app((10 * MS, 16 * MS), site=OTHER, owner_site=OTHER), id="another lock"),
        pytest.param(app((10 * MS, 16 * MS), tid=101), id="another thread"),
    ],
)
def test_what_does_not_count(find: Find, trace: TraceBuilder) -> None:
    """Waits for other locks and of other threads are `lock-contention` only."""
    trace.frame(100, 8 * MS, 20 * MS)
    main = trace.thread(100, 100, "main")
    trace.startup(main, "com.example", 5 * MS, 40 * MS)
    assert {finding.kind for finding in find(trace).findings} == {"lock-contention"}


def test_wait_that_began_before_the_start_is_cut(find: Find) -> None:
    """Of a wait only what lies in the start counts, in the sum and in the worst one."""
    trace = app((10 * MS, 30 * MS), (40 * MS, 41 * MS), (300 * MS, 310 * MS))
    trace.startup(trace.thread(100, 100, "main"), "com.example", 14 * MS, 114 * MS)
    (finding,) = of_kind(find(trace), STARTUP)
    assert (finding.ts_ns, finding.dur_ns, finding.count) == (14 * MS, 16 * MS, 2)
    detail = finding.detail
    assert (detail["total_ns"], detail["startup_ns"], detail["startup_type"]) == (17 * MS, 100 * MS, "warm")
    assert (finding.severity, detail["summary"]) == (
        "high",
        "During its warm start of 100 ms the main thread of com.example waited 17 ms for its message queue's "
        "lock, in 2 waits.",
    )


@pytest.mark.parametrize(
    ("waited", "startup", "severity"),
    [
        (100 * MS, 2000 * MS, "high"),
        (16 * MS, 160 * MS, "high"),
        (16 * MS, 161 * MS, "medium"),
        (15 * MS, 30 * MS, "medium"),
        (1 * MS, 100 * MS, "medium"),
        (1 * MS, 101 * MS, "low"),
    ],
)
def test_severity_by_share_of_the_start(find: Find, waited: int, startup: int, severity: str) -> None:
    """A noticeable time, or a frame and a tenth of the start, is high; a frame or a hundredth is medium."""
    trace = app((20 * MS, 20 * MS + waited))
    trace.startup(trace.thread(100, 100, "main"), "com.example", 10 * MS, 10 * MS + startup)
    (finding,) = of_kind(find(trace), STARTUP)
    assert finding.severity == severity


def published(tp: TraceProcessor, queries_dir: Path, name: str) -> list[Row]:
    """The rows of a published query, run word for word."""
    return tp.rows((queries_dir / name).read_text())


def test_published_queries_on_a_real_trace(
    load: Load, find: Find, api32_trace: Path, queries_dir: Path
) -> None:
    """Where the published query prints 0 ms for 4 waits, ours tells 398,723 ns; no waits during the start."""
    tp = load(api32_trace)
    jank = published(tp, queries_dir, "messagequeue_jank.sql")
    assert jank == [{"process_name": "com.android.systemui", "sum_dur_ms": 0, "count_contention": 4}]
    assert published(tp, queries_dir, "messagequeue_startup.sql") == []
    found = find(api32_trace)
    (finding,) = of_kind(found, JANK)
    assert (finding.process, finding.count, finding.detail["total_ns"], finding.severity) == (
        "com.android.systemui",
        4,
        398_723,
        "low",
    )
    assert (finding.dur_ns, finding.detail["janky_frames"], finding.detail["in_janky_frames"]) == (
        161_011,
        1,
        0,
    )
    assert "waited 399 µs" in str(finding.detail["summary"])
    assert of_kind(found, STARTUP) == []


def test_published_queries_agree_with_ours(load: Load, queries_dir: Path) -> None:
    """On whole milliseconds the published queries and ours give the same sums and counts."""
    trace = app((10 * MS, 13 * MS), (30 * MS, 34 * MS), (200 * MS, 205 * MS))
    trace.frame(100, 8 * MS, 20 * MS)
    trace.startup(trace.thread(100, 100, "main"), "com.example", 12 * MS, 112 * MS)
    tp = load(trace)
    for kind, name in ((JANK, "messagequeue_jank.sql"), (STARTUP, "messagequeue_startup.sql")):
        (theirs,) = published(tp, queries_dir, name)
        (ours,) = tp.rows(sql_of(kind))
        sums = {"sum_dur_ms": int(str(ours["total_ns"])) // MS, "count_contention": ours["count"]}
        assert theirs == {"process_name": "com.example", **sums}


@pytest.mark.parametrize("kind", [JANK, STARTUP])
def test_sql_gives_the_findings_numbers(load: Load, find: Find, kind: str) -> None:
    """The row of the SQL has the finding's count, sum and worst wait."""
    trace = app((10 * MS, 13 * MS), (30 * MS, 34 * MS))
    trace.frame(100, 8 * MS, 20 * MS)
    trace.startup(trace.thread(100, 100, "main"), "com.example", 12 * MS, 112 * MS)
    (row,) = load(trace).rows(sql_of(kind))
    (finding,) = of_kind(find(trace), kind)
    assert (row["count"], row["total_ns"], row["worst_ns"]) == (
        finding.count,
        finding.detail["total_ns"],
        finding.dur_ns,
    )
