"""End to end from Python: four threads post, one runs what comes, until the last has run."""

import functools
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from unjank import Handler, HandlerThread
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale, interleaved, time_threads
from unjank.bench.queue._consumers import running_loop
from unjank.bench.queue._culsans import CULSANS_MISSING, culsans_queue
from unjank.bench.queue._settings import PRODUCERS, nothing

_POSTS = 10_000  # of each producer


class _Consumer(NamedTuple):
    post_many: Callable[[int], object]
    wait_until_done: Callable[[], object]


Opened = Callable[[], AbstractContextManager[_Consumer]]


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`end_to_end_vs_…`: messages per second through the looper over those through the peer."""
    progress("end to end")
    posts = scale.count(_POSTS)
    sides = {name: functools.partial(_ns_per_message, opened, posts) for name, opened in _sides().items()}
    times = interleaved(sides, scale.repeats)
    for of, values in times.items():
        report.add("end_to_end", "ns/message", values, of=of, producers=PRODUCERS)
    for peer in sides:
        if peer != "looper":
            report.compare(f"end_to_end_vs_{peer}", times[peer], times["looper"], of="rate")
    if "culsans" not in sides:
        report.leave_out("end_to_end_vs_culsans", CULSANS_MISSING)


def _ns_per_message(opened: Opened, posts: int) -> float:
    with opened() as consumer:
        span = time_threads([functools.partial(consumer.post_many, posts)] * PRODUCERS)
        consumer.wait_until_done()
        return (time.perf_counter_ns() - span.begin_ns) / (posts * PRODUCERS)


def _sides() -> dict[str, Opened]:
    sides: dict[str, Opened] = {
        "looper": _looper,
        "simple_queue": functools.partial(_plain_worker, queue.SimpleQueue),
        "priority_queue": _ordered_worker,
        "call_soon_threadsafe": _asyncio,
    }
    if (plain_queue := culsans_queue("Queue")) is not None:
        sides["culsans"] = functools.partial(_plain_worker, plain_queue)
    return sides


@contextmanager
def _looper() -> Iterator[_Consumer]:
    with HandlerThread("bench") as thread:
        handler = Handler(thread.looper).share()
        post = handler.post

        def post_many(count: int) -> None:
            for _ in range(count):
                post(nothing)

        yield _Consumer(post_many, functools.partial(handler.run_with_scissors, nothing))


@contextmanager
def _plain_worker(make: Callable[[], Any]) -> Iterator[_Consumer]:
    pending = make()
    put, get = pending.put, pending.get

    def work() -> None:
        while (callback := get()) is not None:
            callback()

    def post_many(count: int) -> None:
        for _ in range(count):
            put(nothing)

    with _worker(work, lambda: put(None)) as wait:
        yield _Consumer(post_many, wait)


@contextmanager
def _ordered_worker() -> Iterator[_Consumer]:
    pending: queue.PriorityQueue[Any] = queue.PriorityQueue()
    put, get, now, number = pending.put, pending.get, time.monotonic, itertools.count()

    def work() -> None:
        while (callback := get()[2]) is not None:
            callback()

    def post_many(count: int) -> None:
        for _ in range(count):
            put((now(), next(number), nothing))

    with _worker(work, lambda: put((now(), next(number), None))) as wait:
        yield _Consumer(post_many, wait)


@contextmanager
def _worker(work: Callable[[], object], end: Callable[[], object]) -> Iterator[Callable[[], None]]:
    """A thread that works until the end is put; gives what puts it and waits."""
    thread = threading.Thread(target=work)
    thread.start()

    def wait() -> None:
        end()
        thread.join()

    try:
        yield wait
    finally:
        if thread.is_alive():
            wait()


@contextmanager
def _asyncio() -> Iterator[_Consumer]:
    with running_loop() as loop:
        call = loop.call_soon_threadsafe

        def post_many(count: int) -> None:
            for _ in range(count):
                call(nothing)

        def wait() -> None:
            done = threading.Event()
            call(done.set)
            done.wait()

        yield _Consumer(post_many, wait)
