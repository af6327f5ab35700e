"""Compares two runs, figure by figure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from unjank import UnjankError
from unjank.bench._statistics import Interval
from unjank.bench.compare._load import Figure, Loaded
from unjank.bench.compare._machines import differences, doubts

Verdict = Literal["same", "better", "worse", "changed"]

SCHEMA = "unjank.bench-compare/1"


@dataclass(frozen=True)
class Change:
    """One figure in both runs.

    Attributes:
        before: In the first.
        after: In the second.
        factor: Second over first; None where the first is zero.
        verdict: `same` where the intervals of the two medians meet.
    """

    before: Figure
    after: Figure
    factor: Interval | None
    verdict: Verdict

    @property
    def percent(self) -> float:
        """How much the median moved, of what it was; 0 where that cannot be said."""
        return 0.0 if self.factor is None else abs(self.factor.median - 1) * 100


@dataclass(frozen=True)
class Comparison:
    """Two runs.

    Attributes:
        before: The first.
        after: The second.
        results: Figures in both.
        ratios: Ratios in both.
    """

    before: Loaded
    after: Loaded
    results: tuple[Change, ...]
    ratios: tuple[Change, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All of them."""
        return (*self.ratios, *self.results)

    @property
    def warnings(self) -> list[str]:
        """What makes the comparison doubtful."""
        return list(dict.fromkeys(doubts(self.before, self.after)))  # a run may be compared with itself

    def worse_by(self, percent: float) -> list[Change]:
        """What got worse, beyond its intervals and by more than that."""
        return [c for c in self.changes if c.verdict == "worse" and c.percent > percent]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "schema": SCHEMA,
            "benchmark": self.before.benchmark,
            "before": str(self.before.path),
            "after": str(self.after.path),
            "machine": differences(self.before, self.after),
            "warnings": self.warnings,
            "results": [_change_dict(change) for change in self.results],
            "ratios": {change.before.label: _change_dict(change) for change in self.ratios},
            "only_before": list(_only(self.before, self.after)),
            "only_after": list(_only(self.after, self.before)),
        }


def compare(before: Loaded, after: Loaded) -> Comparison:
    """Compares what both have.

    Raises:
        UnjankError: They are of different benchmarks.
    """
    if before.benchmark != after.benchmark:
        raise UnjankError(
            f"{before.path} is of 'bench {before.benchmark}' and {after.path} of 'bench {after.benchmark}'; "
            "compare two runs of the same one"
        )
    results = _pairs(before.results, after.results)
    ratios = _pairs(before.ratios, after.ratios)
    return Comparison(before, after, tuple(results), tuple(ratios))


def _pairs(before: Mapping[str, Figure], after: Mapping[str, Figure]) -> Iterator[Change]:
    for label, figure in before.items():
        other = after.get(label)
        if other is not None and other.unit == figure.unit:
            yield _change(figure, other)


def _change(before: Figure, after: Figure) -> Change:
    was, now = before.interval, after.interval
    # The widest that both intervals allow: less confident than a test of both samples would be, but it needs
    # nothing to be assumed about how the values are distributed.
    factor = (
        Interval(now.median / was.median, now.low / was.high, now.high / was.low)
        if was.low > 0 and now.low >= 0
        else None
    )
    return Change(before, after, factor, _verdict(before, after))


def _verdict(before: Figure, after: Figure) -> Verdict:
    was, now = before.interval, after.interval
    if now.low <= was.high and was.low <= now.high:
        return "same"
    if before.better is None:
        return "changed"
    return "better" if (now.median < was.median) == (before.better == "less") else "worse"


def _only(one: Loaded, other: Loaded) -> Iterator[str]:
    yield from (name for name in one.ratios if name not in other.ratios)
    yield from (label for label in one.results if label not in other.results)


def _change_dict(change: Change) -> dict[str, Any]:
    return {
        "label": change.before.label,
        "unit": change.before.unit,
        "before": _interval_dict(change.before.interval),
        "after": _interval_dict(change.after.interval),
        "factor": None if change.factor is None else _interval_dict(change.factor),
        "verdict": change.verdict,
    }


def _interval_dict(interval: Interval) -> dict[str, float]:
    return {"median": interval.median, "low": interval.low, "high": interval.high}
