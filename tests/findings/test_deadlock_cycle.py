"""The rule `deadlock-cycle`."""

import pytest
from tests.findings.builder import MS, Thread, TraceBuilder
from tests.findings.conftest import Find

from unjank.findings import Finding, FindingSet

KIND = "deadlock-cycle"


def of_kind(found: FindingSet) -> list[Finding]:
    """The findings of this rule."""
    return [finding for finding in found.findings if finding.kind == KIND]


def ring(
    trace: TraceBuilder, size: int, *, end: int | None, results: dict[int, str] | None = None
) -> list[Thread]:
    """Threads 0…size-1 of which each waits for the next one; thread i starts at (10 + i) ms."""
    threads = [trace.thread(100, 101 + index, f"t{index}") for index in range(size)]
    for index, thread in enumerate(threads):
        trace.contention(
            thread,
            threads[(index + 1) % size],
            (10 + index) * MS,
            None if end is None else end + index,
            lock=f"L{index}",
            lock_id=index + 1,
            result=(results or {}).get(index, "acquired"),
        )
    return threads


def end_at(trace: TraceBuilder, ts: int) -> None:
    """Makes the trace last until `ts`."""
    trace.thread(100, 199, "last")
    trace.instant(199, ts, "last", category="test")


@pytest.mark.parametrize("size", [2, 3, 5])
def test_open_cycle(find: Find, size: int) -> None:
    """A circle of any length that is still closed at the end of the trace is a deadlock."""
    trace = TraceBuilder()
    ring(trace, size, end=None)
    end_at(trace, 200 * MS)
    (finding,) = of_kind(find(trace))
    closed = (10 + size - 1) * MS
    assert (finding.severity, finding.ts_ns, finding.dur_ns) == ("high", closed, 200 * MS - closed)
    cycle = finding.detail["cycle"]
    assert isinstance(cycle, list)
    assert {(link["thread"], link["lock"], link["owner"]) for link in cycle} == {
        (f"t{i}", f"L{i}", f"t{(i + 1) % size}") for i in range(size)
    }
    assert finding.detail["total_ns"] == finding.dur_ns


def test_summary_tells_the_circle(find: Find) -> None:
    """The sentence names each thread, its lock and who holds it."""
    trace = TraceBuilder()
    ring(trace, 2, end=None)
    end_at(trace, 211 * MS)
    (finding,) = of_kind(find(trace))
    assert finding.detail["summary"] == (
        "Deadlock in app.py for 200 ms: t1 waits in Ledger.read() (bank.py:30) for L1, held by t0; t0 waits "
        "in Ledger.read() (bank.py:30) for L0, held by t1; they were still waiting when the trace ended."
    )
    assert finding.advice.startswith("Take L0 and L1 in the same order everywhere")


@pytest.mark.parametrize(("result", "severity"), [("timeout", "medium"), ("interrupted", "high")])
def test_broken_cycle(find: Find, result: str, severity: str) -> None:
    """A circle that a time-out broke is medium; one that somebody had to interrupt is high."""
    trace = TraceBuilder()
    ring(trace, 2, end=50 * MS, results={0: result})
    end_at(trace, 200 * MS)
    (finding,) = of_kind(find(trace))
    assert (finding.severity, finding.ts_ns, finding.dur_ns) == (severity, 11 * MS, 39 * MS)
    assert finding.detail["broken_by"] == result


def test_acquired_first_is_no_deadlock(find: Find) -> None:
    """If the first wait to end got its lock, its owner was not blocked by it after all."""
    trace = TraceBuilder()
    ring(trace, 2, end=50 * MS, results={1: "timeout"})
    assert of_kind(find(trace)) == []


def test_waits_one_after_the_other_are_no_cycle(find: Find) -> None:
    """Two threads that waited for each other at different times never were in a circle."""
    trace = TraceBuilder()
    first, second = trace.thread(100, 101, "first"), trace.thread(100, 102, "second")
    trace.contention(first, second, 10 * MS, 20 * MS, result="timeout")
    trace.contention(second, first, 20 * MS, 30 * MS, lock_id=2, result="timeout")
    end_at(trace, 200 * MS)
    assert of_kind(find(trace)) == []


def test_convoy_is_no_cycle(find: Find) -> None:
    """Many threads that wait for one owner do not make a circle, open or not."""
    trace = TraceBuilder()
    owner = trace.thread(100, 101, "owner")
    for tid in range(102, 110):
        trace.contention(trace.thread(100, tid, f"t{tid}"), owner, tid * MS, None)
    end_at(trace, 200 * MS)
    assert of_kind(find(trace)) == []


def test_thread_waiting_for_a_cycle_is_not_part_of_it(find: Find) -> None:
    """A third thread that waits for one of two deadlocked ones is not listed in the circle."""
    trace = TraceBuilder()
    threads = ring(trace, 2, end=None)
    outsider = trace.thread(100, 150, "outsider")
    trace.contention(outsider, threads[0], 30 * MS, None, lock="L9", lock_id=9)
    end_at(trace, 200 * MS)
    (finding,) = of_kind(find(trace))
    cycle = finding.detail["cycle"]
    assert isinstance(cycle, list)
    assert {link["thread"] for link in cycle} == {"t0", "t1"}


def test_another_owner_later_disproves(find: Find) -> None:
    """If a later wait for one of the locks names another owner, that lock had been passed on."""
    trace = TraceBuilder()
    ring(trace, 2, end=None)
    third, fourth = trace.thread(100, 150, "third"), trace.thread(100, 151, "fourth")
    trace.contention(third, fourth, 30 * MS, None, lock="L0", lock_id=1)
    end_at(trace, 200 * MS)
    assert of_kind(find(trace)) == []


@pytest.mark.parametrize(("age", "found"), [(10 * MS, 1), (10 * MS - 1, 0)])
def test_young_circle_may_come_undone(find: Find, age: int, found: int) -> None:
    """A circle younger than a lock's hand-over when the trace ends is not called a deadlock."""
    trace = TraceBuilder()
    ring(trace, 2, end=None)
    end_at(trace, 11 * MS + age)
    assert len(of_kind(find(trace))) == found


def test_repeats_are_one_finding(find: Find) -> None:
    """A circle of the same threads and locks that comes again is counted, the longest told."""
    trace = TraceBuilder()
    first, second = trace.thread(100, 101, "first"), trace.thread(100, 102, "second")
    for start, dur in ((0, 20), (100, 50), (200, 30)):
        trace.contention(first, second, start * MS, (start + dur) * MS, lock="A", lock_id=1, result="timeout")
        trace.contention(second, first, (start + 1) * MS, (start + dur + 1) * MS, lock="B", lock_id=2)
    (finding,) = of_kind(find(trace))
    assert (finding.count, finding.dur_ns, finding.detail["total_ns"]) == (3, 49 * MS, (19 + 49 + 29) * MS)


def test_lock_that_its_holder_takes_again(find: Find) -> None:
    """A thread that waits for its own lock to the end of the trace waits for itself."""
    trace = TraceBuilder()
    thread = trace.thread(100, 101, "alone")
    trace.self_wait(thread, 10 * MS, None)
    end_at(trace, 200 * MS)
    (finding,) = of_kind(find(trace))
    assert (finding.severity, finding.thread, finding.owner, finding.dur_ns) == (
        "high",
        "alone",
        "alone",
        190 * MS,
    )
    assert "RLock" in finding.advice
    assert "which it holds itself" in str(finding.detail["summary"])


def test_interrupted_self_deadlock(find: Find) -> None:
    """Ctrl-C out of a wait for an own lock still tells it."""
    trace = TraceBuilder()
    trace.self_wait(trace.thread(100, 101, "alone"), 10 * MS, 60 * MS, result="interrupted")
    (finding,) = of_kind(find(trace))
    assert finding.dur_ns == 50 * MS


def test_signalling_is_no_self_deadlock(find: Find) -> None:
    """A lock that others released before is used as a signal: waiting for it to the end is no fault."""
    trace = TraceBuilder()
    thread = trace.thread(100, 101, "listener")
    trace.self_wait(thread, 10 * MS, 20 * MS)
    trace.self_wait(thread, 30 * MS, None)
    end_at(trace, 200 * MS)
    assert of_kind(find(trace)) == []


@pytest.mark.parametrize(("ended", "found"), [(True, 0), (False, 2)])
def test_hung_program_whose_last_events_are_the_deadlock(find: Find, ended: bool, found: int) -> None:
    """A hung program writes no more: if its recording has no end, a circle need not have lasted."""
    trace = TraceBuilder()
    trace.process(100, "app.py")
    trace.session(100, sched="off", ended=ended)
    ring(trace, 2, end=None)
    trace.self_wait(trace.thread(100, 150, "alone"), 11 * MS, None, lock_id=9)
    assert len(of_kind(find(trace))) == found


def closing(join_at: int, wait_at: int, *, result: str = "timeout", twins: int = 1) -> TraceBuilder:
    """A main thread that waits for a worker's end while it holds the lock that the worker wants."""
    trace = TraceBuilder()
    main = trace.thread(100, 100, "main")
    worker, *_ = [trace.thread(100, 101 + index, "worker") for index in range(twins)]
    trace.contention(worker, main, wait_at * MS, 60 * MS, lock="L")
    trace.join(main, worker, join_at * MS, 59 * MS, result)
    return trace


@pytest.mark.parametrize(("join_at", "wait_at"), [(10, 20), (20, 10)])
def test_waiting_for_the_end_of_a_thread(find: Find, join_at: int, wait_at: int) -> None:
    """A circle through `Thread.join` is one too, whichever wait began first."""
    (finding,) = of_kind(find(closing(join_at, wait_at)))
    assert (finding.severity, finding.dur_ns) == ("medium", 39 * MS)
    assert "main waits in Pool.close() (pool.py:10) for the end of worker" in str(finding.detail["summary"])
    assert "held by worker" not in str(finding.detail["summary"])
    assert finding.advice == (
        "Don't wait for a thread to end while holding a lock that it needs: let go of the lock first."
    )


def test_thread_that_ended_after_all(find: Find) -> None:
    """If the other thread ended, it had got the lock."""
    assert of_kind(find(closing(10, 20, result="acquired"))) == []


def test_end_of_one_of_several_namesakes(find: Find) -> None:
    """Of threads with one name it is not certain which was waited for: nothing is claimed."""
    assert of_kind(find(closing(10, 20, twins=2))) == []
