"""Medians, their intervals, and quantiles: what a benchmark may say about repeated measurements."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb

FEWEST = 6  # values whose range holds the median with that confidence: 1 - 2 / 2**6 is 97 %
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A median and where it lies.

    Attributes:
        median: Of the repetitions.
        low: Lower end of the interval.
        high: Upper end.
    """

    median: float
    low: float
    high: float


def median_interval(values: Sequence[float]) -> Interval:
    """The median, and the interval that holds the true one with at least 95 % confidence.

    From order statistics, so nothing is assumed about how the values are distributed: the number of values
    below the true median is binomial with p = 1/2 (Conover, Practical Nonparametric Statistics, 3.2). Fewer
    than six values cannot give that confidence; then the interval is their whole range.

    Raises:
        ValueError: No values.
    """
    if not values:
        raise ValueError("there is no median of nothing; measure at least once")
    ordered = sorted(values)
    outside = values_outside(len(ordered))
    return Interval(statistics.median(ordered), ordered[outside], ordered[-1 - outside])


def values_outside(count: int) -> int:
    """How many of `count` ordered values may be left out at each end of the interval."""
    tail, outside = 0, 0
    while outside < count // 2:
        tail += comb(count, outside)
        if tail / 2**count > (1 - _CONFIDENCE) / 2:
            break
        outside += 1
    return max(0, outside - 1)


def quantile(values: Sequence[float], q: float) -> float:
    """The smallest value that a share `q` of all values does not exceed (nearest rank, so it was measured).

    Raises:
        ValueError: No values, or `q` outside 0 to 1.
    """
    if not values or not 0 <= q <= 1:
        raise ValueError(f"a quantile needs values and a share from 0 to 1, not {len(values)} and {q}")
    return sorted(values)[max(0, ceil(q * len(values)) - 1)]


def paired_ratio(tops: Sequence[float], bottoms: Sequence[float]) -> Interval:
    """The ratio of what was measured in turn: divided pair by pair, so noise that hits both cancels out.

    Raises:
        ValueError: The two differ in length, or are empty.
    """
    return median_interval([top / bottom for top, bottom in zip(tops, bottoms, strict=True)])
