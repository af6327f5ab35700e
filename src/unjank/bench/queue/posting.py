"""Posting from Python threads: `post_delayed` against ordered queues, `post` against plain ones.

Each queue does what its users write: the looper takes a delay, with the others the poster reads the clock and
adds it.
"""

import functools
import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from unjank import Handler, HandlerThread
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved, time_threads
from unjank.bench.queue._consumers import parked_looper, running_loop
from unjank.bench.queue._culsans import culsans_queue
from unjank.bench.queue._settings import PATTERNS, PRODUCERS, Pattern, delays, nothing

PostAll = Callable[[Sequence[float]], object]
Opened = Callable[[], AbstractContextManager[PostAll]]

_POSTS = 10_000  # of each producer
_BACKLOG = 10_000
_GOALS = {"priority_queue": Goal(10), "lock_heapq": Goal(3), "simple_queue": Goal(0.5)}


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`post_delayed_vs_…` with 4 producers, 10^4 pending and random times; `post_vs_…` with 4 producers."""
    for pattern in PATTERNS:
        for producers in (1, PRODUCERS):
            for backlog in (0, _BACKLOG):
                progress(f"post_delayed: {producers} producers, {backlog} pending, {pattern} due times")
                _compare_delayed(report, scale, producers, backlog, pattern)
    for producers in (1, PRODUCERS):
        progress(f"post: {producers} producers")
        _compare_plain(report, scale, producers)
    if culsans_queue("Queue") is None:
        report.leave_out("post_vs_culsans", "culsans is not installed; pip install 'unjank[bench]'")
        report.leave_out("post_delayed_vs_culsans", "culsans is not installed; pip install 'unjank[bench]'")


def _compare_delayed(report: Report, scale: Scale, producers: int, backlog: int, pattern: Pattern) -> None:
    is_headline = (producers, backlog, pattern) == (PRODUCERS, _BACKLOG, "random")
    pending = delays(pattern, scale.count(backlog) if backlog else 0, seed=0)
    loads = [delays(pattern, scale.count(_POSTS), seed) for seed in range(1, producers + 1)]
    sides = {
        name: functools.partial(_ns_per_post, opened, pending, loads) for name, opened in _ordered().items()
    }
    times = interleaved(sides, scale.repeats if is_headline else min(3, scale.repeats))
    facts = {"producers": producers, "backlog": len(pending), "pattern": pattern}
    _note(report, "post_delayed", times, facts, compared=is_headline)


def _compare_plain(report: Report, scale: Scale, producers: int) -> None:
    loads = [[0.0] * scale.count(4 * _POSTS)] * producers
    sides = {name: functools.partial(_ns_per_post, opened, [], loads) for name, opened in _plain().items()}
    times = interleaved(sides, scale.repeats)
    _note(report, "post", times, {"producers": producers}, compared=producers == PRODUCERS)


def _note(
    report: Report, name: str, times: Mapping[str, list[float]], facts: Mapping[str, Any], *, compared: bool
) -> None:
    for of, values in times.items():
        report.add(name, "ns/post", values, of=of, **facts)
    for peer in times if compared else ():
        if peer != "looper":
            goal = _GOALS.get(peer)
            report.compare(f"{name}_vs_{peer}", times[peer], times["looper"], of="rate", goal=goal)


def _ns_per_post(opened: Opened, pending: Sequence[float], loads: Sequence[Sequence[float]]) -> float:
    with opened() as post_all:
        post_all(pending)
        begin, end = time_threads([functools.partial(post_all, load) for load in loads])
    return (end - begin) / sum(map(len, loads))


def _ordered() -> dict[str, Opened]:
    sides: dict[str, Opened] = {
        "looper": _looper,
        "priority_queue": functools.partial(_ordered_queue, queue.PriorityQueue),
        "lock_heapq": _lock_heapq,
    }
    if (priority_queue := culsans_queue("PriorityQueue")) is not None:
        sides["culsans"] = functools.partial(_ordered_queue, priority_queue)
    return sides


def _plain() -> dict[str, Opened]:
    sides: dict[str, Opened] = {
        "looper": _parked_looper,
        "simple_queue": functools.partial(_plain_queue, queue.SimpleQueue),
        "queue": functools.partial(_plain_queue, queue.Queue),
        "call_soon_threadsafe": _call_soon_threadsafe,
    }
    if (plain_queue := culsans_queue("Queue")) is not None:
        sides["culsans"] = functools.partial(_plain_queue, plain_queue)
    return sides


@contextmanager
def _looper() -> Iterator[PostAll]:
    """A looper that runs and sleeps: what is posted to it is swept into its heap from time to time."""
    with HandlerThread("bench") as thread:
        handler = Handler(thread.looper).share()
        post_delayed = handler.post_delayed

        def post_all(due_in: Sequence[float]) -> None:
            for delay in due_in:
                post_delayed(nothing, delay)

        handler.run_with_scissors(nothing)
        yield post_all
        thread.quit()


@contextmanager
def _ordered_queue(make: Callable[[], Any]) -> Iterator[PostAll]:
    put, number, now = make().put, itertools.count(), time.monotonic

    def post_all(due_in: Sequence[float]) -> None:
        for delay in due_in:
            put((now() + delay, next(number), nothing))

    yield post_all


@contextmanager
def _lock_heapq() -> Iterator[PostAll]:
    lock, number, now, push = threading.Lock(), itertools.count(), time.monotonic, heapq.heappush
    heap: list[tuple[float, int, Callable[[], object]]] = []

    def post_all(due_in: Sequence[float]) -> None:
        for delay in due_in:
            due = now() + delay
            with lock:
                push(heap, (due, next(number), nothing))

    yield post_all


@contextmanager
def _parked_looper() -> Iterator[PostAll]:
    """Nobody reads the peers' queues while they are timed, so nobody reads this one."""
    with parked_looper() as looper:
        post = Handler(looper).share().post

        def post_all(due_in: Sequence[float]) -> None:
            for _ in due_in:
                post(nothing)

        yield post_all


@contextmanager
def _plain_queue(make: Callable[[], Any]) -> Iterator[PostAll]:
    put = make().put

    def post_all(due_in: Sequence[float]) -> None:
        for _ in due_in:
            put(nothing)

    yield post_all


@contextmanager
def _call_soon_threadsafe() -> Iterator[PostAll]:
    with running_loop() as loop:
        call = loop.call_soon_threadsafe

        def post_all(due_in: Sequence[float]) -> None:
            for _ in due_in:
                call(nothing)

        yield post_all
