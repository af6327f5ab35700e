"""How surely waits became shorter or longer."""

import random
from math import ceil
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unjank.report.compare._bootstrap import FEWEST_EVENTS, quantile_ratio, rate_ratio

S = 1_000_000_000


def waits(seed: int, count: int, mean: float) -> list[int]:
    """Durations of an exponential distribution, which waits for locks often have."""
    draw = random.Random(seed)
    return [round(draw.expovariate(1 / mean)) for _ in range(count)]


def test_half_as_long_is_sure() -> None:
    """Many waits of half the length: the interval holds 0.5 and leaves out 1."""
    ratio = quantile_ratio(waits(1, 500, 8e6), waits(2, 500, 4e6), 0.5)
    assert ratio is not None
    assert ratio.low < 0.5 < ratio.high < 1
    assert ratio.low <= ratio.value <= ratio.high
    assert ratio.is_sure


@pytest.mark.parametrize("q", [0.5, 0.95])
def test_interval_is_that_of_drawing_again(q: float) -> None:
    """The order statistic's place gives the interval that drawing whole samples again gives."""
    before, after = waits(3, 60, 8e6), waits(4, 80, 6e6)
    ratio = quantile_ratio(before, after, q)
    assert ratio is not None
    draw = random.Random(5)

    def again(values: list[int]) -> int:
        ordered = sorted(draw.choices(values, k=len(values)))
        return ordered[ceil(len(values) * q) - 1]

    drawn = sorted(again(after) / again(before) for _ in range(4000))
    assert ratio.low == pytest.approx(drawn[100], rel=0.1)
    assert ratio.high == pytest.approx(drawn[-101], rel=0.1)


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Of 100 comparisons of waits with the same distribution about 95 % find no difference."""
    covered = 0
    for seed in range(100):
        ratio = quantile_ratio(waits(seed, 100, 5e6), waits(seed + 1000, 100, 5e6), 0.5)
        assert ratio is not None
        covered += not ratio.is_sure
    assert 88 <= covered <= 99


def test_sums_cover_the_truth_as_often_as_they_say() -> None:
    """The same for sums of waits whose number varies too."""
    draw = random.Random(9)
    covered = 0
    for seed in range(100):
        # About Poisson: the number of hits in many trials.
        counts = [sum(draw.random() < 0.01 for _ in range(5000)) for _ in range(2)]
        ratio = rate_ratio(waits(seed, counts[0], 5e6), S, waits(seed + 1000, counts[1], 5e6), S)
        assert ratio is not None
        covered += not ratio.is_sure
    assert 88 <= covered <= 99


def test_sums_are_per_second_of_the_trace() -> None:
    """Twice the waits in twice the time is no change; in the same time it is."""
    before, after = waits(1, 400, 5e6), waits(2, 800, 5e6)
    same = rate_ratio(before, 10 * S, after, 20 * S)
    twice = rate_ratio(before, 10 * S, after, 10 * S)
    assert same is not None
    assert twice is not None
    assert same.low < 1 < same.high
    assert twice.low > 1.5
    assert twice.value == pytest.approx(2 * same.value)


def test_few_events_give_no_interval() -> None:
    """Below the fewest on either side nothing is said on lengths; of sums only if both sides have few."""
    few, many = [5] * (FEWEST_EVENTS - 1), [5] * FEWEST_EVENTS
    assert quantile_ratio(few, many, 0.5) is None
    assert quantile_ratio(many, few, 0.5) is None
    assert quantile_ratio(many, many, 0.5) is not None
    assert rate_ratio(few, S, few, S) is None
    assert rate_ratio(few, S, many, S) is not None
    assert rate_ratio([], S, many, S) is None
    assert rate_ratio(few, 0, many, S) is None


def test_same_traces_same_interval() -> None:
    """Nothing is left to chance: the same waits give the same interval."""
    before, after = waits(1, 50, 5e6), waits(2, 50, 5e6)
    assert quantile_ratio(before, after, 0.5) == quantile_ratio(before, list(reversed(after)), 0.5)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(0, 10**12), min_size=20, max_size=60),
    st.lists(st.integers(0, 10**12), min_size=20, max_size=60),
)
def test_any_durations(before: list[int], after: list[int]) -> None:
    """Whatever the durations, ratios are positive and the interval is one."""
    for ratio in (quantile_ratio(before, after, 0.5), rate_ratio(before, S, after, S)):
        assert ratio is not None
        assert 0 < ratio.low <= ratio.high
        assert ratio.value > 0


def test_median_is_a_measured_one() -> None:
    """The quantile is by nearest rank: the ratio of two durations that were measured."""
    before, after = list(range(10, 31)), list(range(20, 41))
    ratio = quantile_ratio(before, after, 0.5)
    assert ratio is not None
    assert ratio.value == median(after) / median(before)
