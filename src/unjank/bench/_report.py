"""What a benchmark collects: results, ratios with their goals, and what could not be measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unjank.bench._statistics import Interval, median_interval, paired_ratio

Measure = Callable[[], float]


@dataclass(frozen=True)
class Goal:
    """A bound that a ratio's median is held against, or two.

    Attributes:
        bound: The bound itself counts as reached.
        at_least: Whether it is a lower bound; an upper one otherwise.
        at_most: An upper bound as well, for a ratio that should lie between two.
    """

    bound: float
    at_least: bool = True
    at_most: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether `value` is on the right side."""
        if self.at_most is not None and value > self.at_most:
            return False
        return value >= self.bound if self.at_least else value <= self.bound

    def to_dict(self) -> dict[str, float]:
        """As JSON: `{"at_least": 10}`, `{"at_most": 1.3}` or both."""
        bounds = {"at_least" if self.at_least else "at_most": self.bound}
        return bounds if self.at_most is None else bounds | {"at_most": self.at_most}


@dataclass(frozen=True)
class Ratio:
    """One figure that may be quoted: how two things that were measured in turn compare.

    Attributes:
        of: What is divided: "rate" (more is better for the first named), "time", "memory", …
        interval: Median, low and high over the repetitions.
        goal: What it should be; None if nothing was promised.
        published: What others published for it, on their machine; None if nobody did.
    """

    of: str
    interval: Interval
    goal: Goal | None = None
    published: float | None = None

    def to_dict(self, *, judged: bool = True) -> dict[str, Any]:
        """As JSON; `met` is whether the goal is reached, None if that is not to be judged."""
        about: dict[str, Any] = {
            "median": self.interval.median,
            "low": self.interval.low,
            "high": self.interval.high,
            "of": self.of,
        }
        if self.goal is not None:
            about |= {
                "goal": self.goal.to_dict(),
                "met": self.goal.is_met(self.interval.median) if judged else None,
            }
        return about if self.published is None else about | {"published": self.published}


@dataclass
class Report:
    """Fills while a benchmark runs.

    Attributes:
        results: One dict per thing measured: `name`, `unit`, `median`, `low`, `high`, `values`, and facts.
        ratios: By name.
        absent: `{"name", "reason"}` of what could not be measured here.
        repetitions: How many were judged by the kernel's counters, where a benchmark does that.
        refusals: The reason for each of them that does not count.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, Ratio] = field(default_factory=dict)
    absent: list[dict[str, str]] = field(default_factory=list)
    repetitions: int = 0
    refusals: list[str] = field(default_factory=list)

    def add(self, name: str, unit: str, values: Sequence[float], **facts: object) -> None:
        """Notes one result with all its repetitions."""
        found = median_interval(values)
        self.results.append(
            {"name": name, "unit": unit, "median": found.median, "low": found.low, "high": found.high}
            | facts
            | {"values": list(values)}
        )

    def compare(
        self,
        name: str,
        tops: Sequence[float],
        bottoms: Sequence[float],
        *,
        of: str,
        goal: Goal | None = None,
        published: float | None = None,
    ) -> None:
        """Notes the ratio of two series measured in turn."""
        self.ratios[name] = Ratio(of, paired_ratio(tops, bottoms), goal, published)

    def absorb(self, other: "Report") -> None:
        """Takes over what another report has."""
        self.results += other.results
        self.ratios |= other.ratios
        self.absent += other.absent
        self.repetitions += other.repetitions
        self.refusals += other.refusals

    def judged(self, repetitions: int, refusals: Sequence[str]) -> None:
        """Notes how many repetitions were judged, and why some of them do not count."""
        self.repetitions += repetitions
        self.refusals += refusals

    def leave_out(self, name: str, reason: str) -> None:
        """Notes what is not there, and why."""
        self.absent.append({"name": name, "reason": reason})
