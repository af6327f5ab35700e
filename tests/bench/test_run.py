"""How measurements are repeated."""

import threading
import time

import pytest

from unjank.bench import Scale, interleaved, time_threads


def test_sides_take_turns_after_a_warm_up() -> None:
    """Every round has each side once, every other one backwards; the first is not counted."""
    calls: list[str] = []

    def side(name: str) -> float:
        calls.append(name)
        return float(len(calls))

    values = interleaved({"a": lambda: side("a"), "b": lambda: side("b")}, repeats=2)
    assert calls == ["a", "b", "a", "b", "b", "a"]
    assert values == {"a": [3.0, 6.0], "b": [4.0, 5.0]}


def test_threads_run_at_once() -> None:
    """The bodies meet at a barrier, which one after the other could not."""
    meeting = threading.Barrier(3, timeout=60)
    span = time_threads([meeting.wait] * 3)
    assert span.wall_ns == span.end_ns - span.begin_ns > 0
    assert span.cpu_ns > 0


def test_a_rehearsal_is_undone_and_not_counted() -> None:
    """With `between` the same threads run twice, with it in between, and the second time counts."""
    log: list[tuple[str, int]] = []
    span = time_threads(
        [lambda: log.append(("body", threading.get_ident()))],
        between=lambda: log.append(("between", time.perf_counter_ns())),
    )
    (first, thread), (middle, undone), (last, same_thread) = log
    assert (first, middle, last) == ("body", "between", "body")
    assert thread == same_thread
    assert span.begin_ns >= undone


def test_a_body_that_raises_is_heard() -> None:
    """A failed measurement is an error, not a short time."""
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        time_threads([lambda: None, lambda: 1 // 0])
    assert threading.active_count() == before


def test_quick_divides_but_leaves_something() -> None:
    """Counts are a hundredth, and never zero."""
    quick = Scale.quick()
    assert [quick.count(n) for n in (10_000, 100, 5)] == [100, 1, 1]
    assert Scale().count(10_000) == 10_000
