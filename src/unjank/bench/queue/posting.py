"""Posting from Python threads: `post_delayed` against ordered queues, `post` against plain ones.

Each queue does what its users write: the looper takes a delay, with the others the poster reads the clock
and adds it. The threads have posted as much before the clock starts, and it was taken out again: what is
measured is a program that runs on, not one that starts.
"""

import functools
import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from unjank import Handler, HandlerThread
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved, time_threads
from unjank.bench.queue._consumers import ParkedLooper, running_loop
from unjank.bench.queue._culsans import CULSANS_MISSING, culsans_queue
from unjank.bench.queue._settings import PATTERNS, PRODUCERS, WEEK_S, Pattern, delays, nothing

PostAll = Callable[[Sequence[float]], object]


class _PerPost(NamedTuple):
    """Nanoseconds: of wall time, and of the posting threads' CPU time."""

    wall: float
    cpu: float


class _Queue(NamedTuple):
    """A queue under test: posts with each of these delays, and takes out everything so posted."""

    post_all: PostAll
    drain: Callable[[], object]


Opened = Callable[[Sequence[float]], AbstractContextManager[_Queue]]

_POSTS = 10_000  # of each producer
_BACKLOG = 10_000
_OF = MappingProxyType({"wall": "rate", "cpu": "rate by CPU"})
_GOALS = MappingProxyType({"priority_queue": Goal(10), "lock_heapq": Goal(3), "simple_queue": Goal(0.5)})


def measure_delayed(report: Report, scale: Scale, progress: Progress) -> None:
    """`post_delayed_vs_…` with 4 producers, 10^4 pending and random due times.

    Each also as `…_cpu`, by the CPU time of the posting threads, which others on the machine disturb less.
    """
    for pattern in PATTERNS:
        for producers in (1, PRODUCERS):
            for backlog in (0, _BACKLOG):
                progress(f"post_delayed: {producers} producers, {backlog} pending, {pattern} due times")
                _compare_delayed(report, scale, producers, backlog, pattern)
    if culsans_queue("PriorityQueue") is None:
        report.leave_out("post_delayed_vs_culsans", CULSANS_MISSING)


def measure_plain(report: Report, scale: Scale, progress: Progress) -> None:
    """`post_vs_…` with 4 producers, `post_beside_timer_vs_simple_queue`, and `…_cpu` of each as above."""
    for producers in (1, PRODUCERS):
        progress(f"post: {producers} producers")
        _compare_plain(report, scale, producers)
    progress(f"post beside a timer: {PRODUCERS} producers")
    _compare_beside_timer(report, scale)
    if culsans_queue("Queue") is None:
        report.leave_out("post_vs_culsans", CULSANS_MISSING)


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
    loads = [[0.0] * scale.count(_POSTS)] * producers
    sides = {name: functools.partial(_ns_per_post, opened, [], loads) for name, opened in _plain().items()}
    times = interleaved(sides, scale.repeats)
    _note(report, "post", times, {"producers": producers}, compared=producers == PRODUCERS)


def _compare_beside_timer(report: Report, scale: Scale) -> None:
    """A post reads the clock while something else has a due time, so that is a case of its own."""
    loads = [[0.0] * scale.count(_POSTS)] * PRODUCERS
    looper, simple_queue = _parked_looper, functools.partial(_plain_queue, queue.SimpleQueue)
    times = interleaved(
        {
            "looper": functools.partial(_ns_per_post, looper, [WEEK_S], loads),
            "simple_queue": functools.partial(_ns_per_post, simple_queue, [], loads),
        },
        scale.repeats,
    )
    _note(report, "post_beside_timer", times, {"producers": PRODUCERS}, compared=True, goals={})


def _note(
    report: Report,
    name: str,
    times: Mapping[str, list[_PerPost]],
    facts: Mapping[str, Any],
    *,
    compared: bool,
    goals: Mapping[str, Goal] = _GOALS,
) -> None:
    for clock in _PerPost._fields:
        ns = {of: [getattr(value, clock) for value in values] for of, values in times.items()}
        for of, values in ns.items():
            report.add(name, "ns/post", values, of=of, clock=clock, **facts)
        for peer in [side for side in ns if compared and side != "looper"]:
            suffix, goal = ("", goals.get(peer)) if clock == "wall" else ("_cpu", None)
            report.compare(f"{name}_vs_{peer}{suffix}", ns[peer], ns["looper"], of=_OF[clock], goal=goal)


def _ns_per_post(opened: Opened, pending: Sequence[float], loads: Sequence[Sequence[float]]) -> _PerPost:
    with opened(pending) as (post_all, drain):
        bodies = [functools.partial(post_all, load) for load in loads]
        span = time_threads(bodies, between=drain)
    posts = sum(map(len, loads))
    return _PerPost(span.wall_ns / posts, span.cpu_ns / posts)


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
def _looper(pending: Sequence[float]) -> Iterator[_Queue]:
    """A looper that runs and sleeps: what is posted to it is swept into its heap from time to time."""
    with HandlerThread("bench") as thread:
        backlog, handler = Handler(thread.looper), Handler(thread.looper).share()
        post_delayed = handler.post_delayed
        for delay in pending:
            backlog.post_delayed(nothing, delay)
        backlog.run_with_scissors(nothing)

        def post_all(due_in: Sequence[float]) -> None:
            for delay in due_in:
                post_delayed(nothing, delay)

        def drain() -> None:
            handler.remove_all(None)
            backlog.run_with_scissors(nothing)

        yield _Queue(post_all, drain)
        thread.quit()


@contextmanager
def _ordered_queue(make: Callable[[], Any], pending: Sequence[float]) -> Iterator[_Queue]:
    made = make()
    put, number, now = made.put, itertools.count(), time.monotonic

    def post_all(due_in: Sequence[float]) -> None:
        for delay in due_in:
            put((now() + delay, next(number), nothing))

    def drain() -> None:
        _empty(made)
        post_all(pending)

    post_all(pending)
    yield _Queue(post_all, drain)


@contextmanager
def _lock_heapq(pending: Sequence[float]) -> Iterator[_Queue]:
    lock, number, now, push = threading.Lock(), itertools.count(), time.monotonic, heapq.heappush
    heap: list[tuple[float, int, Callable[[], object]]] = []

    def post_all(due_in: Sequence[float]) -> None:
        for delay in due_in:
            due = now() + delay
            with lock:
                push(heap, (due, next(number), nothing))

    def drain() -> None:
        heap.clear()
        post_all(pending)

    post_all(pending)
    yield _Queue(post_all, drain)


@contextmanager
def _parked_looper(timers: Sequence[float]) -> Iterator[_Queue]:
    """Nobody reads the peers' queues while they are timed, so nobody reads this one."""
    parked = ParkedLooper()
    with parked as looper:
        post = Handler(looper).share().post
        for delay in timers:
            Handler(looper).post_delayed(nothing, delay)

        def post_all(due_in: Sequence[float]) -> None:
            for _ in due_in:
                post(nothing)

        yield _Queue(post_all, parked.drain)


@contextmanager
def _plain_queue(make: Callable[[], Any], _: Sequence[float]) -> Iterator[_Queue]:
    made = make()
    put = made.put

    def post_all(due_in: Sequence[float]) -> None:
        for _ in due_in:
            put(nothing)

    yield _Queue(post_all, functools.partial(_empty, made))


def _empty(made: Any) -> None:  # noqa: ANN401  queues of three libraries without a common type
    while not made.empty():
        made.get()


@contextmanager
def _call_soon_threadsafe(_: Sequence[float]) -> Iterator[_Queue]:
    with running_loop() as loop:
        call = loop.call_soon_threadsafe

        def post_all(due_in: Sequence[float]) -> None:
            for _ in due_in:
                call(nothing)

        def drain() -> None:
            done = threading.Event()
            call(done.set)
            done.wait()

        yield _Queue(post_all, drain)
