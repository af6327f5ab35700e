"""Reads the JSON of a run. It may come from anywhere, so every field is looked at."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unjank import UnjankError
from unjank.bench._document import SCHEMA
from unjank.bench._statistics import Interval

Better = Literal["less", "more"]

_MOST_BYTES = 1 << 28
_LESS = frozenset({"time", "memory", "mispredictions", "cycles"})  # what a ratio is of
_CIRCUMSTANCES = frozenset({"rounds", "refused", "node", "cpu", "home_cpu", "stable", "spread", "seconds"})
"""Facts that are not what was measured, but how it happened to be: they may be others next time."""


@dataclass(frozen=True)
class Figure:
    """One figure of a run.

    Attributes:
        label: Name and facts, in words.
        unit: Of a result; of a ratio, what was divided.
        interval: Median, low and high.
        better: Which direction is better; None if neither.
    """

    label: str
    unit: str
    interval: Interval
    better: Better | None


@dataclass(frozen=True)
class Loaded:
    """A run.

    Attributes:
        path: Where it came from.
        benchmark: Its name.
        machine: Facts.
        divisor: 1 unless it was a quick one.
        repeats: Repetitions of each figure.
        results: By label.
        ratios: By name.
    """

    path: Path
    benchmark: str
    machine: Mapping[str, Any]
    divisor: float
    repeats: int
    results: Mapping[str, Figure]
    ratios: Mapping[str, Figure]


def load(path: Path) -> Loaded:
    """Reads what `unjank bench NAME --json` wrote.

    Raises:
        UnjankError: The file cannot be read, or is something else.
    """
    content = _parse(path)
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UnjankError(
            f"{path} is not a benchmark's JSON ({SCHEMA}); write one: unjank bench NAME --json FILE"
        )
    try:
        return Loaded(
            path,
            printable(str(content["benchmark"])),
            dict(content["machine"]),
            float(content["scale"]["divisor"]),
            int(content["scale"]["repeats"]),
            {figure.label: figure for figure in _unique(_result(item) for item in content["results"])},
            {
                printable(str(name)): _ratio(printable(str(name)), about)
                for name, about in content["ratios"].items()
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnjankError(
            f"{path} is damaged ({type(error).__name__}: {error!s:.60}); write it again with --json"
        ) from error


def printable(text: str) -> str:
    r"""Text from a file that cannot steer a terminal: what does not print becomes an escape, ESC `\x1b`."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _parse(path: Path) -> object:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnjankError(f"{path} is larger than any benchmark's JSON; name the right file")
        parsed: object = json.loads(path.read_bytes())
    except OSError as error:
        raise UnjankError(f"cannot read {path}: {error.strerror}; name another file") from error
    except (ValueError, RecursionError) as error:
        raise UnjankError(f"{path} is not JSON; name what 'unjank bench NAME --json FILE' wrote") from error
    return parsed


def _result(item: Mapping[str, Any]) -> Figure:
    facts = [
        _fact(key, value)
        for key, value in item.items()
        if key not in {"name", "unit", *_CIRCUMSTANCES} and isinstance(value, str | bool | int)
    ]
    unit = printable(str(item["unit"]))
    better: Better | None = "less" if unit.startswith("ns") else None
    return Figure(printable(" ".join([str(item["name"]), *facts])), unit, _interval(item), better)


def _fact(key: str, value: str | bool | int) -> str:
    return str(value) if isinstance(value, str) else f"{key}={value}"


def _ratio(name: str, about: Mapping[str, Any]) -> Figure:
    return Figure(name, printable(str(about["of"])), _interval(about), _direction(about))


def _direction(about: Mapping[str, Any]) -> Better | None:
    """By the goal if there is one; between two bounds neither is better."""
    bounds = dict(about.get("goal", {}))
    if bounds:
        return None if len(bounds) > 1 else "more" if "at_least" in bounds else "less"
    if about["of"] == "rate":
        return "more"
    return "less" if about["of"] in _LESS else None


def _interval(about: Mapping[str, Any]) -> Interval:
    values = [float(about[key]) for key in ("median", "low", "high")]
    if not all(map(math.isfinite, values)):
        raise ValueError("a figure is not finite")
    return Interval(*values)


def _unique(figures: Iterator[Figure]) -> Iterator[Figure]:
    """Figures that facts don't tell apart are numbered, in their order."""
    seen: dict[str, int] = {}
    for figure in figures:
        count = seen[figure.label] = seen.get(figure.label, 0) + 1
        yield (
            figure
            if count == 1
            else Figure(f"{figure.label} #{count}", figure.unit, figure.interval, figure.better)
        )
