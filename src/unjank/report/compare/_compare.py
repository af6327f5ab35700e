"""Puts the findings of two traces side by side."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from unjank.findings import Finding, FindingSet, Severity
from unjank.report.compare._bootstrap import Ratio, quantile_ratio, rate_ratio
from unjank.report.compare._identity import Key, identity

MEDIAN, SLOWEST = 0.5, 0.95


class Change(StrEnum):
    """What became of a finding."""

    NEW = "new"
    WORSE = "worse"
    UNCLEAR = "unclear"
    BETTER = "better"
    GONE = "gone"


@dataclass(frozen=True)
class Side:
    """One trace.

    Attributes:
        trace: Its path, as the user gave it.
        engine: The engine that read it.
        dur_ns: Its length, by which sums of the two can be compared.
        found: Its findings.
    """

    trace: str
    engine: str
    dur_ns: int
    found: FindingSet


@dataclass(frozen=True)
class Occurrences:
    """What one trace has of one thing; several findings if line numbers or threads told them apart.

    Attributes:
        findings: Worst first, at least one.
    """

    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The finding that stands for all."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """The worst one's."""
        return self.worst.severity

    @property
    def count(self) -> int:
        """Occurrences of all."""
        return sum(finding.count for finding in self.findings)

    @property
    def longest_ns(self) -> int:
        """The longest occurrence."""
        return max(finding.dur_ns for finding in self.findings)

    @property
    def total_ns(self) -> int | None:
        """Sum of all, None if the kind has none."""
        sums = [finding.detail.get("total_ns") for finding in self.findings]
        known = [value for value in sums if isinstance(value, int)]
        return sum(known) if known else None

    @property
    def events_ns(self) -> list[int]:
        """Length of each occurrence."""
        return [event for finding in self.findings for event in finding.events_ns]


@dataclass(frozen=True)
class Comparison:
    """One thing that is bad in at least one of the traces.

    Attributes:
        key: What tells it from others.
        before, after: What each trace has of it; None where it is not there.
        total: Ratio of the sums, each per second of its trace, after to before, with its bootstrap interval.
        slowest: The same of the 95th percentiles.
        median: The same of the medians. Each is None where there are too few occurrences.
    """

    key: Key
    before: Occurrences | None
    after: Occurrences | None
    total: Ratio | None = None
    slowest: Ratio | None = None
    median: Ratio | None = None

    @property
    def change(self) -> Change:
        """What became of it.

        By the ratios whose intervals leave out 1, if they agree; if there are none, by severity.
        """
        if self.before is None or self.after is None:
            return Change.NEW if self.before is None else Change.GONE
        ratios = (self.total, self.slowest, self.median)
        signs = {1 if ratio.low > 1 else -1 for ratio in ratios if ratio and ratio.is_sure}
        if not signs:
            signs = {self.before.severity.rank - self.after.severity.rank}
        worse, better = any(sign > 0 for sign in signs), any(sign < 0 for sign in signs)
        if worse == better:
            return Change.UNCLEAR
        return Change.WORSE if worse else Change.BETTER

    @property
    def shown(self) -> Finding:
        """The finding to name it by: the later trace's, where it is there."""
        side = self.after or self.before
        assert side is not None, "a comparison is of something that at least one trace has"
        return side.worst


def compare(before: Side, after: Side) -> tuple[Comparison, ...]:
    """Matches the findings of two traces; what is new or worse comes first, then by severity and length."""
    first, second = _by_identity(before.found.findings), _by_identity(after.found.findings)
    matched = [
        _both(key, (first[key], before.dur_ns), (second[key], after.dur_ns)) for key in first.keys() & second
    ]
    gone = [Comparison(key, first[key], None) for key in first.keys() - second]
    new = [Comparison(key, None, second[key]) for key in second.keys() - first]
    return tuple(sorted((*matched, *gone, *new), key=_order))


def regressions(comparisons: Iterable[Comparison], threshold: Severity) -> list[Comparison]:
    """What is new or worse and now as bad as `threshold` or worse."""
    return [
        comparison
        for comparison in comparisons
        if comparison.change in (Change.NEW, Change.WORSE) and comparison.shown.severity.at_least(threshold)
    ]


def _by_identity(findings: Iterable[Finding]) -> dict[Key, Occurrences]:
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[identity(finding)].append(finding)
    return {key: Occurrences(tuple(same)) for key, same in groups.items()}


def _both(key: Key, before: tuple[Occurrences, int], after: tuple[Occurrences, int]) -> Comparison:
    """Compares what both traces have; each comes with its trace's length."""
    first, second = before[0].events_ns, after[0].events_ns
    return Comparison(
        key,
        before[0],
        after[0],
        total=rate_ratio(first, before[1], second, after[1]),
        slowest=quantile_ratio(first, second, SLOWEST),
        median=quantile_ratio(first, second, MEDIAN),
    )


def _order(comparison: Comparison) -> tuple[int, int, int, Key]:
    shown = comparison.shown
    return tuple(Change).index(comparison.change), shown.severity.rank, -shown.dur_ns, comparison.key
