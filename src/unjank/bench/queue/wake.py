"""Waking a looper that sleeps: natively against a bare eventfd, in Python against asyncio and SimpleQueue."""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from unjank import Handler, HandlerThread, _bench
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale
from unjank.bench._statistics import quantile
from unjank.bench.queue._consumers import running_loop

Trips = Callable[[], Sequence[int]]
Notify = Callable[[Callable[[], object]], object]

_ROUNDS = 2_000
_PYTHON_ROUNDS = 500
_PAUSE_S = 0.0003  # long enough for the woken thread to be asleep again
_QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """Latencies p50, p99, p99.9; the ratios compare p50, ours over theirs."""
    progress("native wake-up")
    _measure_native(report, scale)
    progress("wake-up in Python")
    _measure_python(report, scale)


def _measure_native(report: Report, scale: Scale) -> None:
    rounds, (first, second) = scale.count(_ROUNDS), _places()
    bound = {"rounds": rounds, "first_cpu": first, "second_cpu": second}
    sides: dict[str, Trips] = {
        "eventfd": partial(_bench.eventfd_round_trips, **bound),
        "deliqueue": partial(_bench.looper_round_trips, "deliqueue", **bound),
        "legacy": partial(_bench.looper_round_trips, "legacy", **bound),
    }
    medians = _latencies(report, "native_round_trip", sides, scale, first_cpu=first, second_cpu=second)
    goal = Goal(1.3, at_least=False)
    report.compare("wake_vs_eventfd", medians["deliqueue"], medians["eventfd"], of="time", goal=goal)
    report.compare("wake_vs_legacy", medians["deliqueue"], medians["legacy"], of="time")


def _places() -> tuple[int, int]:
    """A CPU for each of two threads: left to the scheduler, they share one in some repetitions only."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0], cpus[-1]


def _measure_python(report: Report, scale: Scale) -> None:
    rounds = scale.count(_PYTHON_ROUNDS)
    sides: dict[str, Trips] = {
        name: partial(_wake_ups, opened, rounds)
        for name, opened in {"looper": _looper, "asyncio": _asyncio, "simple_queue": _simple_queue}.items()
    }
    medians = _latencies(report, "wake_up", sides, scale)
    goal = Goal(0.5, at_least=False)
    ours = medians["looper"]
    report.compare("wake_vs_call_soon_threadsafe", ours, medians["asyncio"], of="time", goal=goal)
    report.compare("wake_vs_simple_queue", ours, medians["simple_queue"], of="time")


def _latencies(
    report: Report, name: str, sides: Mapping[str, Trips], scale: Scale, **facts: int
) -> dict[str, list[float]]:
    """Notes the quantiles of each side; answers the medians, one per repetition."""
    taken: dict[str, list[Sequence[int]]] = {side: [] for side in sides}
    for turn in range(scale.repeats + 1):
        for side in list(sides)[:: -1 if turn % 2 else 1]:
            taken[side].append(sides[side]())
    for side, rounds in taken.items():
        for label, q in _QUANTILES.items():
            values = [quantile(trips, q) for trips in rounds[1:]]  # the first round warmed up
            report.add(name, "ns", values, of=side, quantile=label, rounds=len(rounds[0]), **facts)
    return {side: [quantile(trips, 0.5) for trips in rounds[1:]] for side, rounds in taken.items()}


def _wake_ups(opened: Callable[[], AbstractContextManager[Notify]], rounds: int) -> list[int]:
    """From before the post to the first line of the callback, on another thread that sleeps until then."""
    taken: list[int] = []
    arrived = threading.Lock()
    arrived.acquire()
    begin = 0

    def callback() -> None:
        taken.append(time.perf_counter_ns() - begin)
        arrived.release()

    with opened() as notify:
        for _ in range(rounds):
            time.sleep(_PAUSE_S)
            begin = time.perf_counter_ns()
            notify(callback)
            arrived.acquire()
    return taken


@contextmanager
def _looper() -> Iterator[Notify]:
    with HandlerThread("wake") as thread:
        yield Handler(thread.looper).post


@contextmanager
def _asyncio() -> Iterator[Notify]:
    with running_loop() as loop:
        yield loop.call_soon_threadsafe


@contextmanager
def _simple_queue() -> Iterator[Notify]:
    pending: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()

    def work() -> None:
        while (callback := pending.get()) is not None:
            callback()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield pending.put
    finally:
        pending.put(None)
        thread.join()
