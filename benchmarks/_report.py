"""What a benchmark gives back, and how it is put together."""

import statistics
from collections.abc import Sequence
from typing import Any, TypedDict

from unjank.bench import paired_ratio


class Ratio(TypedDict):
    """A ratio over several repetitions: the median, and the interval that `unjank.bench` gives it."""

    median: float
    low: float
    high: float


class Report(TypedDict):
    """What `run()` of a benchmark module returns.

    `results` are the raw figures, each a dict with a `name`; `ratios` are what may be quoted.
    """

    results: list[dict[str, Any]]
    ratios: dict[str, Ratio]


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Ratio:
    """The ratio of figures measured in turn, so that both saw the same noise."""
    found = paired_ratio(numerators, denominators)
    return {"median": found.median, "low": found.low, "high": found.high}


def result(name: str, unit: str, values: Sequence[float], **facts: object) -> dict[str, Any]:
    """One figure with all its repetitions."""
    return {"name": name, "unit": unit, "median": statistics.median(values), "values": list(values), **facts}
