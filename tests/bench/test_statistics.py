"""Medians, intervals and quantiles, with exact values."""

import pytest

from unjank.bench import Interval, median_interval, paired_ratio, quantile
from unjank.bench._statistics import values_outside


@pytest.mark.parametrize(
    ("count", "outside"), [(1, 0), (2, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (20, 5)]
)
def test_interval_leaves_out_what_the_binomial_allows(count: int, outside: int) -> None:
    """The interval's ranks are those of the tables for 95 % (n = 9: 2nd and 8th; n = 20: 6th and 15th)."""
    assert values_outside(count) == outside


def test_median_interval_of_nine() -> None:
    """The median is the middle value; one extreme is left out at each end."""
    assert median_interval([9, 1, 8, 2, 7, 3, 6, 4, 5]) == Interval(5, 2, 8)


def test_median_interval_of_few_is_their_range() -> None:
    """Too few values for 95 % give all there is, and an even number the mean of the middle two."""
    assert median_interval([4.0, 1.0]) == Interval(2.5, 1.0, 4.0)


def test_nothing_has_no_median() -> None:
    """An empty series is an error, not a zero."""
    with pytest.raises(ValueError, match="at least once"):
        median_interval([])


@pytest.mark.parametrize(
    ("q", "expected"), [(0.0, 1), (0.5, 5), (0.51, 6), (0.99, 10), (0.999, 10), (1.0, 10)]
)
def test_quantile_is_a_measured_value(q: float, expected: int) -> None:
    """Nearest rank: the smallest value that covers the share."""
    assert quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], q) == expected


@pytest.mark.parametrize(("values", "q"), [([], 0.5), ([1.0], 1.5), ([1.0], -0.1)])
def test_quantile_refuses_what_has_none(values: list[float], q: float) -> None:
    """No values, or a share that is none, is an error."""
    with pytest.raises(ValueError, match="share from 0 to 1"):
        quantile(values, q)


def test_ratio_divides_pair_by_pair() -> None:
    """A round in which both were slow does not move the ratio."""
    assert paired_ratio([2.0, 200.0, 4.0], [1.0, 100.0, 1.0]) == Interval(2.0, 2.0, 4.0)


def test_ratio_needs_pairs() -> None:
    """Series of different length were not measured in turn."""
    with pytest.raises(ValueError, match="shorter"):
        paired_ratio([1.0, 2.0], [1.0])
