"""The JSON form of a comparison, schema `unjank.compare/1`."""

from collections import Counter
from collections.abc import Sequence

from unjank.report.compare._bootstrap import Ratio
from unjank.report.compare._compare import Change, Comparison, Occurrences, Side

SCHEMA = "unjank.compare/1"


def comparison_document(before: Side, after: Side, comparisons: Sequence[Comparison]) -> dict[str, object]:
    """Makes the JSON object of a comparison."""
    changes = Counter(comparison.change for comparison in comparisons)
    return {
        "schema": SCHEMA,
        "before": _side(before),
        "after": _side(after),
        "changes": {change.value: changes[change] for change in Change},
        "findings": [_entry(comparison) for comparison in comparisons],
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "trace": side.trace,
        "engine": side.engine,
        "dur_ns": side.dur_ns,
        "findings": len(side.found.findings),
        "notes": list(side.found.notes),
    }


def _entry(comparison: Comparison) -> dict[str, object]:
    shown = comparison.shown
    return {
        "change": comparison.change.value,
        "kind": shown.kind,
        "process": shown.process,
        "thread": shown.thread,
        "before": _occurrences(comparison.before),
        "after": _occurrences(comparison.after),
        "ratios": {
            "total_per_s": _ratio(comparison.total),
            "p95": _ratio(comparison.slowest),
            "median": _ratio(comparison.median),
        },
    }


def _occurrences(occurrences: Occurrences | None) -> dict[str, object] | None:
    """Sums over all findings, and the findings themselves as `unjank report --json` has them."""
    if occurrences is None:
        return None
    return {
        "severity": occurrences.severity.value,
        "count": occurrences.count,
        "worst_ns": occurrences.longest_ns,
        "total_ns": occurrences.total_ns,
        "findings": [finding.to_dict() for finding in occurrences.findings],
    }


def _ratio(ratio: Ratio | None) -> dict[str, float] | None:
    return None if ratio is None else {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}
