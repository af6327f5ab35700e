"""How posting (flat) and dispatch (logarithmic) grow with the backlog, native, beside a plain heap."""

import queue
import time
from functools import partial
from math import log

from unjank import _bench
from unjank.bench._report import Goal, Measure, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.queue._settings import PRODUCERS, delays, nothing

_BACKLOGS = (1_000, 10_000, 100_000, 1_000_000)
_LEVELS = 1.1  # a tenth on top, since a heap has whole levels
_FLAT = 1.25  # a quarter on top for caches that no longer hold everything


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """Backlogs from 10^3 to 10^6: `post_growth`, `dispatch_growth`, each the time at most over at least.

    `dispatch_comparisons_growth` is the heap's part without the machine's caches: counted, not timed.
    `priority_queue_get_growth` is what the same caches do to `queue.PriorityQueue.get`.
    """
    sizes = [scale.count(backlog) for backlog in _BACKLOGS]
    logarithmic = log(sizes[-1]) / log(max(2, sizes[0]))
    for name, side, bound in (("post", _post, _FLAT), ("dispatch", _dispatch, logarithmic)):
        progress(f"native {name} with {_BACKLOGS[0]} to {_BACKLOGS[-1]} pending")
        times = interleaved({str(size): side(size, scale) for size in sizes}, scale.repeats)
        for size in sizes:
            facts = {"queue": "deliqueue", "backlog": size}
            report.add(f"native_{name}_growth", f"ns/{name}", times[str(size)], **facts)
        least, most = times[str(sizes[0])], times[str(sizes[-1])]
        goal = Goal(bound, at_least=False)
        report.compare(f"{name}_growth", most, least, of="time", goal=goal)
    counts = {size: [_bench.comparisons_per_hold(size=size, holds=scale.count(10_000))] for size in sizes}
    for size in sizes:
        report.add("dispatch_comparisons", "comparisons/dispatch", counts[size], backlog=size)
    goal = Goal(logarithmic * _LEVELS, at_least=False)
    report.compare("dispatch_comparisons_growth", counts[sizes[-1]], counts[sizes[0]], of="count", goal=goal)
    _compare_priority_queue(report, scale, sizes, progress)


def _compare_priority_queue(report: Report, scale: Scale, sizes: list[int], progress: Progress) -> None:
    progress(f"queue.PriorityQueue.get with {_BACKLOGS[0]} to {_BACKLOGS[-1]} pending")
    ends = (sizes[0], sizes[-1])
    times = interleaved({str(size): partial(_ns_per_get, size, scale) for size in ends}, scale.repeats)
    for size in ends:
        report.add("priority_queue_get", "ns/get", times[str(size)], backlog=size)
    report.compare("priority_queue_get_growth", times[str(ends[1])], times[str(ends[0])], of="time")


def _ns_per_get(backlog: int, scale: Scale) -> float:
    """Takes the next one out and puts it back for later, as the native side does."""
    pending: queue.PriorityQueue[tuple[float, int, object]] = queue.PriorityQueue()
    for number, due in enumerate(delays("random", backlog, seed=0)):
        pending.put((due, number, nothing))
    later = delays("random", scale.count(50_000), seed=1)
    spent = 0
    for number, delay in enumerate(later, start=backlog):
        began = time.perf_counter_ns()
        due, _, _ = pending.get()
        spent += time.perf_counter_ns() - began
        pending.put((due + delay, number, nothing))
    return spent / len(later)


def _post(backlog: int, scale: Scale) -> Measure:
    posts = scale.count(100_000)
    return partial(
        _bench.insert_ns,
        "deliqueue",
        producers=PRODUCERS,
        backlog=backlog,
        per_producer=posts,
        pattern="random",
    )


def _dispatch(backlog: int, scale: Scale) -> Measure:
    return partial(_bench.dispatch_ns, "deliqueue", backlog=backlog, messages=scale.count(50_000))
