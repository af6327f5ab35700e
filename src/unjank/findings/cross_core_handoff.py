"""Finding `cross-core-handoff`: two threads on different CPUs that wake each other at a high rate."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, Json, Severity
from unjank.findings._sentences import who
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration

KIND = "cross-core-handoff"

# 1,000 a second, over 100 ms, are in the SQL.
FREQUENT_PER_S = 3_000
EXTREME_PER_S = 10_000


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per pair of threads; of a recording, those with a thread of its programs."""
    if evidence.scheduling.is_recorded:
        for row in evidence.rows(KIND):
            if evidence.concerns(evidence.threads[row.first_utid], evidence.threads[row.second_utid]):
                yield _finding(evidence, row)


def severity(peak_per_s: int) -> Severity:
    """How bad it is, by hand-overs between CPUs a second: high from 10,000, medium from 3,000."""
    if peak_per_s >= EXTREME_PER_S:
        return Severity.HIGH
    return Severity.MEDIUM if peak_per_s >= FREQUENT_PER_S else Severity.LOW


def _finding(evidence: Evidence, row: Any) -> Finding:  # noqa: ANN401  a row's columns are those of the query
    woken, waker = evidence.threads[row.woken_utid], evidence.threads[row.waker_utid]
    return Finding(
        kind=KIND,
        severity=severity(row.peak_per_s),
        process=woken.process,
        thread=woken.name,
        owner=waker.name,
        where=None,
        owner_where=None,
        ts_ns=row.ts,
        dur_ns=row.dur,
        count=row.count,
        advice=(
            f"Put {woken.name} and {waker.name} on one CPU, or on CPUs that share a cache ('unjank cpu pin'; "
            "'unjank cpu place' with this trace plans it for all threads) and see whether it is faster; "
            "or let one of them do both parts."
        ),
        detail=_detail(evidence, row, woken, waker),
    )


def _detail(
    evidence: Evidence,
    row: Any,  # noqa: ANN401  a row's columns are those of the query
    woken: Thread,
    waker: Thread,
) -> dict[str, Json]:
    first, second = evidence.threads[row.first_utid], evidence.threads[row.second_utid]
    return {
        "lock": None,
        "owner_role": "woken by",
        "total_ns": row.total_ns,
        "peak_per_s": row.peak_per_s,
        "busy_ns": row.busy_ns,
        "handoffs": row.handoffs,
        "across_mean_ns": row.across_mean_ns,
        "same_core_mean_ns": row.same_core_mean_ns,
        "pair": [
            {"thread": first.name, "tid": first.tid, "process": first.process, "woken": row.to_first},
            {
                "thread": second.name,
                "tid": second.tid,
                "process": second.process,
                "woken": row.count - row.to_first,
            },
        ],
        "summary": _summary(row, woken, waker),
    }


def _summary(row: Any, woken: Thread, waker: Thread) -> str:  # noqa: ANN401  a row's columns are the query's
    sentence = (
        f"{who(woken)} and {who(waker)} woke each other {row.count} times from one CPU to another, up to "
        f"{row.peak_per_s} times a second; it took {format_duration(row.across_mean_ns)} on average until "
        "the other one ran"
    )
    if row.same_core_mean_ns is not None:
        same = row.handoffs - row.count
        sentence += (
            f", and {format_duration(row.same_core_mean_ns)} the {same} times that both were on one CPU"
        )
    return sentence + "."
