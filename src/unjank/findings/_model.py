"""What a finding is: the records every rule returns and every report, JSON file or table shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


class Severity(StrEnum):
    """How bad a finding is; each rule documents what it takes."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for the worst; sorts findings."""
        return tuple(Severity).index(self)

    def at_least(self, threshold: "Severity") -> bool:
        """True if this is as bad as `threshold` or worse."""
        return self.rank <= threshold.rank


@dataclass(frozen=True)
class Finding:
    """One cause of lost time, with who lost it, who caused it, and what to do.

    Attributes:
        kind: Name of the rule, such as `lock-contention`.
        severity: See the rule's section in `docs/findings.md`.
        process: Name of the process that lost the time.
        thread: Thread that waited longest.
        owner: Thread that it waited for, None if the trace does not tell.
        where: Code location of the wait, `Class.method() (file.py:12)`.
        owner_where: Code location at which the owner took what was waited for.
        ts_ns: Start of the worst occurrence on the trace's clock.
        dur_ns: Length of the worst occurrence.
        count: Number of occurrences.
        detail: Exact sums (`total_ns`), the lock's name (`lock`), one plain sentence (`summary`), and
            what the kind adds; JSON values only.
        advice: What to change.
        events_ns: Length of each occurrence, to compare traces by; empty for kinds that only have sums. It
            is not part of the JSON.
    """

    kind: str
    severity: Severity
    process: str | None
    thread: str | None
    owner: str | None
    where: str | None
    owner_where: str | None
    ts_ns: int
    dur_ns: int
    count: int
    advice: str
    detail: Mapping[str, Json] = field(default_factory=dict)
    events_ns: Sequence[int] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Json]:
        """The finding as the JSON object of `unjank report --json`."""
        return {
            "kind": self.kind,
            "severity": self.severity.value,
            "process": self.process,
            "thread": self.thread,
            "owner": self.owner,
            "where": self.where,
            "owner_where": self.owner_where,
            "ts_ns": self.ts_ns,
            "dur_ns": self.dur_ns,
            "count": self.count,
            "detail": dict(self.detail),
            "advice": self.advice,
        }


@dataclass(frozen=True)
class FindingSet:
    """All findings of one trace, worst first, and notes on what the trace could not tell."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @classmethod
    def ranked(cls, findings: Iterable[Finding], notes: Iterable[str]) -> "FindingSet":
        """Sorts the findings by severity, then by the length of their worst occurrence, longest first."""
        order = sorted(findings, key=lambda finding: (finding.severity.rank, -finding.dur_ns, finding.ts_ns))
        return cls(tuple(order), tuple(notes))

    def at_least(self, threshold: Severity) -> tuple[Finding, ...]:
        """The findings as bad as `threshold` or worse."""
        return tuple(f for f in self.findings if f.severity.at_least(threshold))
