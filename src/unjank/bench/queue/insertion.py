"""Insertion, native against native: producers x backlog x due-time pattern, and the headline figure."""

from functools import partial

from unjank import _bench
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.queue._settings import PATTERNS, PRODUCERS, Pattern

_BUSY_BACKLOG = 100_000
_STEPS = 2_500_000  # how many links of a sorted list one producer walks at most, so that a run ends


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`deliqueue_vs_legacy_insert`: 4 producers into a busy queue, random due times. The rest as results."""
    for pattern in PATTERNS:
        for producers in (1, PRODUCERS):
            for backlog in (1_000, _BUSY_BACKLOG):
                progress(f"native insertion: {producers} producers, {backlog} pending, {pattern} due times")
                _compare(report, scale, producers, backlog, pattern)


def _compare(report: Report, scale: Scale, producers: int, backlog: int, pattern: Pattern) -> None:
    is_headline = (producers, backlog, pattern) == (PRODUCERS, _BUSY_BACKLOG, "random")
    size = scale.count(backlog)
    posts = {"deliqueue": scale.count(100_000), "legacy": _legacy_posts(size, pattern, scale)}
    sides = {
        queue: partial(
            _bench.insert_ns,
            queue,
            producers=producers,
            backlog=size,
            per_producer=posts[queue],
            pattern=pattern,
        )
        for queue in ("deliqueue", "legacy")
    }
    times = interleaved(sides, scale.repeats if is_headline else min(3, scale.repeats))
    for queue, values in times.items():
        facts = {"queue": queue, "producers": producers, "backlog": size, "pattern": pattern}
        report.add("native_insert", "ns/post", values, **facts, posts=producers * posts[queue])
    if is_headline:
        goal = Goal(5_000)
        report.compare(
            "deliqueue_vs_legacy_insert", times["legacy"], times["deliqueue"], of="rate", goal=goal
        )


def _legacy_posts(backlog: int, pattern: Pattern, scale: Scale) -> int:
    """A sorted list is walked to the middle for random times, else to the end."""
    walked = backlog // 2 if pattern == "random" else backlog
    return max(5, min(scale.count(100_000), _STEPS // max(1, walked)))
