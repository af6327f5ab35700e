"""Durations for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjank.findings import format_duration


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (46, "46 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (45_532, "45.5 µs"),
        (398_723, "399 µs"),
        (999_499, "999 µs"),
        (999_600, "1 ms"),
        (18_200_000, "18.2 ms"),
        (999_499_999, "999 ms"),
        (999_700_000, "1 s"),
        (2_500_000_000, "2.5 s"),
        (83_456_000_000, "83.5 s"),
        (-46_000, "-46 µs"),
    ],
)
def test_unit_fits(ns: int, text: str) -> None:
    """A duration has up to three digits and the unit that fits them."""
    assert format_duration(ns) == text


@given(st.integers(min_value=1, max_value=10**18))
def test_nothing_rounds_to_zero(ns: int) -> None:
    """Time that passed never prints as 0, and what prints is within half a percent of it."""
    number, unit = format_duration(ns).split(" ")
    size = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}[unit]
    assert float(number) * size == pytest.approx(ns, rel=0.005)
