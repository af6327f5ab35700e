"""How posting (flat) and dispatch (logarithmic) grow with the backlog, native."""

from functools import partial
from math import log

from unjank import _bench
from unjank.bench._report import Goal, Measure, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.queue._settings import PRODUCERS

_BACKLOGS = (1_000, 10_000, 100_000, 1_000_000)
_LEVELS = 1.1  # a tenth on top, since a heap has whole levels
_FLAT = 1.25  # a quarter on top for caches that no longer hold everything


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """Backlogs from 10^3 to 10^6: `post_growth`, `dispatch_growth`, each the time at most over at least.

    `dispatch_comparisons_growth` is the heap's part without the machine's caches: counted, not timed.
    `plain_dispatch_growth` is what these do to a std::priority_queue, and `dispatch_vs_plain` its time over
    ours with most pending.
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
    _compare_plain(report, scale, sizes, progress)


def _compare_plain(report: Report, scale: Scale, sizes: list[int], progress: Progress) -> None:
    progress(f"std::priority_queue with {_BACKLOGS[0]} to {_BACKLOGS[-1]} pending")
    least, most = sizes[0], sizes[-1]
    sides = {f"plain {size}": _plain_dispatch(size, scale) for size in sizes}
    times = interleaved({**sides, "ours": _dispatch(most, scale)}, scale.repeats)
    for size in sizes:
        facts = {"queue": "std::priority_queue", "backlog": size}
        report.add("plain_dispatch_growth", "ns/dispatch", times[f"plain {size}"], **facts)
    report.compare("plain_dispatch_growth", times[f"plain {most}"], times[f"plain {least}"], of="time")
    report.compare("dispatch_vs_plain", times[f"plain {most}"], times["ours"], of="rate")


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


def _plain_dispatch(backlog: int, scale: Scale) -> Measure:
    return partial(_bench.plain_dispatch_ns, backlog=backlog, messages=scale.count(50_000))
