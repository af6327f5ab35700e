"""The rule `queue-backlog`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.findings.builder import MS, Thread, TraceBuilder
from tests.findings.conftest import Find
from tests.findings.test_real_programs import of_kind as real_of_kind
from tests.findings.test_real_programs import record, written

from unjank.findings import Finding, FindingSet
from unjank.findings._messages import Dispatch
from unjank.findings.queue_backlog import BACKLOG, Spell, spells_of

KIND = "queue-backlog"


def of_kind(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == KIND]


def only(found: FindingSet) -> Finding:
    """The one finding of this rule."""
    (finding,) = of_kind(found)
    return finding


def rows(finding: Finding, key: str) -> Sequence[Mapping[str, Any]]:
    """A list of `detail`."""
    found = finding.detail[key]
    assert isinstance(found, Sequence)
    return [row for row in found if isinstance(row, Mapping)]


def flood(
    trace: TraceBuilder, looper: Thread, poster: Thread, count: int, *, each: int = MS, number: int = 1
) -> None:
    """So many messages at 10 ms, which run one after the other, `each` ns long, from 11 ms on."""
    for i in range(count):
        flow = number * 1000 + i + 1
        start = 11 * MS + i * each
        trace.post(poster, looper, 10 * MS, flow=flow, number=number)
        trace.dispatch(looper, start, start + each, delay=start - 10 * MS, flow=flow, number=number)


def one_flood(count: int, *, each: int = MS, looper: str = "worker") -> TraceBuilder:
    """A trace with one looper and one poster."""
    trace = TraceBuilder()
    flood(trace, trace.thread(100, 101, looper), trace.thread(100, 102, "feed"), count, each=each)
    return trace


def test_contract(find: Find) -> None:
    """One flood gives every member of the contract, with exact numbers."""
    content = only(find(one_flood(20))).to_dict()
    detail = content.pop("detail")
    assert content == {
        "kind": KIND,
        "severity": "medium",
        "process": "app.py",
        "thread": "worker",
        "owner": "feed",
        "where": "Screen.draw() (screen.py:8)",
        "owner_where": "Feed.read() (feed.py:30)",
        "ts_ns": 10 * MS,
        "dur_ns": 20 * MS,
        "count": 20,
        "advice": "Let feed post less often in Feed.read() (feed.py:30): ask has_callbacks() or "
        "has_messages() first, or remove what a newer message replaces, or make Screen.draw (screen.py:8) "
        "cheaper, which took 19 ms in 19 runs.",
    }
    assert detail == {
        "lock": None,
        "owner_role": "flooded by",
        "total_ns": sum(range(1, 21)) * MS,
        "delay_p50_ns": 10 * MS,
        "delay_max_ns": 20 * MS,
        "peak": 20,
        "peak_ts_ns": 10 * MS,
        "growth_per_s": None,
        "spells": 1,
        "backlog_ns": 20 * MS,
        "never_ran": 0,
        "looper_tid": 101,
        "posts": 20,
        "posts_per_s": 1000.0,
        "producers": [
            {
                "thread": "feed",
                "tid": 102,
                "main": False,
                "where": "Feed.read() (feed.py:30)",
                "count": 20,
                "per_s": 1000.0,
            }
        ],
        "callbacks": [
            {
                "callback": "Screen.draw (screen.py:8)",
                "count": 19,
                "total_ns": 19 * MS,
                "worst_ns": MS,
            }
        ],
        "summary": "worker (app.py) fell behind: 20 messages were overdue at once, messages ran up to 20 ms "
        "late, half of them 10 ms or more; feed posted 20 of 20 in Feed.read() (feed.py:30).",
    }


@pytest.mark.parametrize(("count", "findings"), [(BACKLOG - 1, 0), (BACKLOG, 1)])
def test_a_few_overdue_messages_are_no_backlog(find: Find, count: int, findings: int) -> None:
    """It takes ten at once."""
    assert len(of_kind(find(one_flood(count)))) == findings


@pytest.mark.parametrize(
    ("looper", "worst", "severity"),
    [
        ("ui", 16 * MS, "high"),
        ("ui", 16 * MS - 10, "medium"),
        ("ui", 4 * MS, "medium"),
        ("ui", 4 * MS - 10, "low"),
        ("worker", 100 * MS, "high"),
        ("worker", 100 * MS - 10, "medium"),
        ("worker", 16 * MS, "medium"),
        ("worker", 16 * MS - 10, "low"),
    ],
)
def test_severity(find: Find, looper: str, worst: int, severity: str) -> None:
    """By how late the latest message ran, and whether a person waits for the thread."""
    each = (worst - MS) // 10
    finding = only(find(one_flood(11, each=each, looper=looper)))
    assert (finding.dur_ns, finding.severity) == (MS + 10 * each, severity)


def test_producers_are_told_apart_by_thread_and_call_site(find: Find) -> None:
    """Who posted how many from where, most first; the first one is the owner."""
    trace = TraceBuilder()
    looper, first, second = (trace.thread(100, tid, f"t{tid}") for tid in (101, 102, 103))
    shares = ((first, "a()(a.py:1)", 3), (second, "b()(b.py:2)", 5), (second, "c()(c.py:3)", 4))
    posts = [(poster, site) for poster, site, count in shares for _ in range(count)]
    for i, (poster, site) in enumerate(posts):
        trace.post(poster, looper, 10 * MS + i, flow=i + 1, site=site)
        trace.dispatch(looper, 20 * MS + i, 20 * MS + i + 1, delay=10 * MS, flow=i + 1)
    finding = only(find(trace))
    assert (finding.owner, finding.owner_where) == ("t103", "b() (b.py:2)")
    counted = [(row["thread"], row["where"], row["count"]) for row in rows(finding, "producers")]
    assert counted == [("t103", "b() (b.py:2)", 5), ("t103", "c() (c.py:3)", 4), ("t102", "a() (a.py:1)", 3)]


def test_the_message_that_held_the_others_up_is_told(find: Find) -> None:
    """It was not late itself, and ran while the backlog grew."""
    trace = TraceBuilder()
    looper, poster = trace.thread(100, 101, "ui"), trace.thread(100, 102, "feed")
    trace.dispatch(looper, 5 * MS, 30 * MS, delay=0, callback="Screen.load (screen.py:40)")
    for i in range(12):
        trace.post(poster, looper, 10 * MS + i * MS, flow=i + 1)
        trace.dispatch(looper, 30 * MS + i, 30 * MS + i + 1, delay=20 * MS - i * MS + i, flow=i + 1)
    finding = only(find(trace))
    assert finding.where == "Screen.load() (screen.py:40)"
    assert rows(finding, "callbacks")[0]["total_ns"] == 20 * MS
    assert (finding.detail["peak"], finding.detail["growth_per_s"]) == (12, round(12e3 / 11, 1))


def test_loopers_are_apart(find: Find) -> None:
    """By number and process: two queues of nine are no queue of eighteen."""
    trace = TraceBuilder()
    poster = trace.thread(100, 109, "feed")
    flood(trace, trace.thread(100, 101, "one"), poster, 9, number=1)
    flood(trace, trace.thread(100, 102, "two"), poster, 9, number=2)
    assert of_kind(find(trace)) == []
    other = trace.thread(200, 201, "three")
    flood(trace, other, trace.thread(200, 202, "feed"), 12, number=3)
    assert only(find(trace)).thread == "three"


def test_messages_for_later_are_no_backlog(find: Find) -> None:
    """A queue full of timers that run on time is what queues are for."""
    trace = TraceBuilder()
    looper, poster = trace.thread(100, 101, "ui"), trace.thread(100, 102, "feed")
    for i in range(50):
        trace.post(poster, looper, MS + i, due_in=10 * MS + i * MS - i, flow=i + 1)
        trace.queue_length(looper, MS + i, i + 1)
        trace.dispatch(looper, 11 * MS + i * MS, 11 * MS + i * MS + 10, delay=0, flow=i + 1)
    assert of_kind(find(trace)) == []


def test_virtual_clocks_are_left_out(find: Find) -> None:
    """Their messages have no delay that anybody waited for."""
    trace = TraceBuilder()
    looper = trace.thread(100, 101, "ui")
    for i in range(20):
        trace.dispatch(looper, 10 * MS + i, 10 * MS + i + 1, delay=None)
    assert of_kind(find(trace)) == []


@pytest.mark.parametrize(("left", "never_ran"), [(15, 15), (12, 12), (0, None)])
def test_messages_that_never_ran_count_up_to_the_end(find: Find, left: int, never_ran: int | None) -> None:
    """As many of the posts without a dispatch as the queue still held; the others were removed."""
    trace = TraceBuilder()
    looper, poster = trace.thread(100, 101, "ui"), trace.thread(100, 102, "feed")
    for i in range(15):
        trace.post(poster, looper, 10 * MS + i * MS)
    trace.queue_length(looper, 50 * MS, left)
    trace.instant(101, 60 * MS, "later", category="test")
    found = of_kind(find(trace))
    if never_ran is None:
        assert found == []
        return
    (finding,) = found
    assert finding.thread == "ui"
    assert finding.detail["never_ran"] == never_ran
    assert finding.dur_ns == 60 * MS - (10 + 15 - never_ran) * MS
    assert f"{never_ran} had not run when the trace ended" in str(finding.detail["summary"])


def test_spells() -> None:
    """They begin with the first overdue message and end when none is; a message on time is in none."""
    times = [(0, 10), (5, 12), (20, 20), (30, 31), (31, 33)]
    messages = [Dispatch(due, start, start + 1, None) for due, start in times]
    assert list(spells_of(messages)) == [Spell(0, 5, 2, 12), Spell(30, 30, 1, 33)]


FLOOD = """
    import threading, time
    from unjank import Handler, HandlerThread

    class Screen:
        def __init__(self, looper):
            self.handler = Handler(looper)
            self.loading, self.free = threading.Event(), threading.Event()

        def load(self):
            self.loading.set()
            self.free.wait()

        def draw(self):
            pass

        def flood(self):
            for _ in range(300):
                self.handler.post(self.draw)

    with HandlerThread("ui") as ui:
        screen = Screen(ui.looper)
        screen.handler.post(screen.load)
        screen.loading.wait()
        feed = threading.Thread(target=screen.flood, name="feed")
        feed.start()
        feed.join()
        time.sleep(0.05)
        screen.free.set()
        screen.handler.run_with_scissors(lambda: None)
"""


def test_a_real_program(tmp_path: Path) -> None:
    """A thread that floods a looper which is held up: both are named, with their places."""
    finding = real_of_kind(record(written(tmp_path, FLOOD), "off"), KIND)
    assert (finding["process"], finding["thread"], finding["owner"]) == ("bank.py", "ui", "feed")
    assert finding["owner_where"] == "Screen.flood() (bank.py:19)"
    assert finding["where"] == "Screen.load() (bank.py:10)"
    assert (finding["severity"], finding["detail"]["spells"]) == ("high", 1)
    assert finding["detail"]["peak"] >= 300
    assert finding["detail"]["producers"][0]["count"] == 300
    assert finding["detail"]["never_ran"] == 0
