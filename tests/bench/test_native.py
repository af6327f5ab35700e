"""The native measurements: each returns what it says, and refuses what makes no sense."""

import os

import pytest

from unjank import _bench


def test_times_are_positive() -> None:
    """Both queues, all patterns, at sizes too small to say anything about speed."""
    for queue in ("deliqueue", "legacy"):
        for pattern in ("random", "increasing", "equal"):
            assert _bench.insert_ns(queue, producers=2, backlog=10, per_producer=5, pattern=pattern) > 0
        assert _bench.dispatch_ns(queue, backlog=10, messages=5) > 0
        for by_handle in (True, False):
            assert _bench.remove_ns(queue, backlog=10, removals=5, by_handle=by_handle) > 0


def test_each_round_trip_is_timed() -> None:
    """As many times as rounds, pinned to a CPU or not."""
    cpu = min(os.sched_getaffinity(0))
    for first, second in ((-1, -1), (cpu, cpu)):
        taken = _bench.eventfd_round_trips(rounds=7, first_cpu=first, second_cpu=second)
        assert len(taken) == 7
        assert min(taken) > 0
        taken = _bench.looper_round_trips("deliqueue", rounds=7, first_cpu=first, second_cpu=second)
        assert len(taken) == 7
        assert min(taken) > 0


@pytest.mark.parametrize("comparator", ["branchless", "branchy"])
def test_comparators_agree_on_the_order(comparator: str) -> None:
    """Earlier first; at the same time the lower sequence number; the first of two that are alike."""
    cases = [
        ((1, 9), (2, 0), 0),
        ((2, 0), (1, 9), 1),
        ((1, 1), (1, 2), 0),
        ((1, 2), (1, 1), 1),
        ((1, 1), (1, 1), 0),
    ]
    for first, second, expected in cases:
        assert _bench.lesser(comparator, first, second) == expected  # type: ignore[arg-type]  # parametrized


def test_unknown_names_are_answered_with_the_choice() -> None:
    """A misspelt queue, pattern or comparator is a ValueError that lists them."""
    with pytest.raises(ValueError, match="queue is one of deliqueue, legacy, not 'locked'"):
        _bench.dispatch_ns("locked", backlog=1, messages=1)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="pattern is one of random, increasing, equal"):
        _bench.insert_ns("legacy", producers=1, backlog=1, per_producer=1, pattern="odd")  # type: ignore[arg-type]  # as above
    with pytest.raises(ValueError, match="comparator is one of branchless, branchy"):
        _bench.heap_ns("none", size=1, few_due_times=False, operations=1)  # type: ignore[arg-type]  # as above


def test_nothing_measured_is_no_time() -> None:
    """Counts of zero are refused instead of divided by."""
    with pytest.raises(ValueError, match="operations must be at least 1"):
        _bench.heap_ns("branchy", size=1, few_due_times=False, operations=0)
    with pytest.raises(ValueError, match="backlog must be at least 1"):
        _bench.dispatch_ns("legacy", backlog=0, messages=1)


def test_a_cpu_that_is_not_there_is_an_oserror() -> None:
    """What the system refuses arrives with its number."""
    with pytest.raises(OSError, match="may not run on the CPU asked for"):
        _bench.eventfd_round_trips(rounds=1, first_cpu=1000, second_cpu=1000)
