"""How surely waits became shorter or longer: bootstrap intervals for ratios of quantiles and of sums.

Both traces' waits are drawn again with replacement, and the ratio of the quantiles is taken each time; the
interval is where 95 % of the ratios lie (the percentile method; Efron, Bootstrap methods, Annals of
Statistics 7, 1979). A quantile of a sample that was drawn again is an order statistic, and the k-th of n
draws from n values is the value at place n·u with u from Beta(k, n - k + 1) (David and Nagaraja, Order
Statistics, 2.1). So one draw of u stands for a whole sample, and a million waits cost no more than ten.

A sum varies with the number of waits too. As if each came independently of the others, it is a compound
Poisson sum with variance Σx²; a gamma distribution of that mean and variance stands for it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

CONFIDENCE = 0.95
FEWEST_EVENTS = 20  # fewer say little about a median and nothing about the slowest
_DRAWS = 2000
_SEED = 20_231  # the same traces always give the same interval


@dataclass(frozen=True)
class Ratio:
    """After divided by before, and the interval in which that lies with 95 % confidence."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """True if the interval leaves out 1: shorter or longer, but not both."""
        return self.high < 1 or self.low > 1


def quantile_ratio(before: Sequence[int], after: Sequence[int], q: float) -> Ratio | None:
    """Compares a quantile of two sets of durations.

    Args:
        before: Durations, ns, in any order.
        after: The same of the other trace.
        q: Which quantile, above 0 and at most 1; nearest rank, so it was measured.

    Returns:
        None if either side has fewer than `FEWEST_EVENTS`.
    """
    if min(len(before), len(after)) < FEWEST_EVENTS:
        return None
    first, second = sorted(before), sorted(after)
    draw = random.Random(_SEED)  # noqa: S311  statistics, not secrets
    low, high = _interval([_divide(_drawn(draw, second, q), _drawn(draw, first, q)) for _ in range(_DRAWS)])
    return Ratio(_divide(second[_rank(len(second), q) - 1], first[_rank(len(first), q) - 1]), low, high)


def rate_ratio(before: Sequence[int], before_ns: int, after: Sequence[int], after_ns: int) -> Ratio | None:
    """Compares the sums of two sets of durations, each per second of its trace.

    Args:
        before: Durations, ns, in any order.
        before_ns: Length of their trace.
        after: The same of the other trace.
        after_ns: Length of that.

    Returns:
        None if neither side has `FEWEST_EVENTS`, one has none, or a trace has no length.
    """
    if max(len(before), len(after)) < FEWEST_EVENTS or not (before and after and before_ns and after_ns):
        return None
    lengths = before_ns / after_ns
    draw = random.Random(_SEED)  # noqa: S311  statistics, not secrets
    first_sum, second_sum = _gamma(before), _gamma(after)
    drawn = ((draw.gammavariate(*first_sum), draw.gammavariate(*second_sum)) for _ in range(_DRAWS))
    low, high = _interval([second / first * lengths for first, second in drawn if first > 0])
    return Ratio(_divide(sum(after), sum(before)) * lengths, low, high)


def _gamma(events: Sequence[int]) -> tuple[float, float]:
    """Shape and scale of the gamma distribution that stands for the sum of such events."""
    total, squares = sum(events) or 1, sum(event * event for event in events) or 1
    return total * total / squares, squares / total


def _interval(ratios: list[float]) -> tuple[float, float]:
    ordered = sorted(ratios)
    outside = round(len(ordered) * (1 - CONFIDENCE) / 2)
    return ordered[outside], ordered[-1 - outside]


def _drawn(draw: random.Random, ordered: Sequence[int], q: float) -> int:
    """The quantile of a sample drawn again from `ordered`."""
    count = len(ordered)
    rank = _rank(count, q)
    place = int(count * draw.betavariate(rank, count - rank + 1))
    return ordered[min(place, count - 1)]


def _rank(count: int, q: float) -> int:
    return max(1, ceil(q * count))


def _divide(after: int, before: int) -> float:
    """The ratio; a wait of no length counts as one nanosecond, the clock's smallest step."""
    return max(after, 1) / max(before, 1)
