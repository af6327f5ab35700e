"""Finding `switch-storm`: a thread went to sleep and was woken so often that it does little else."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, Json, Severity
from unjank.findings._sentences import who
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration

KIND = "switch-storm"

# 10,000 voluntary switches a second, over 100 ms, are in the SQL: busy programs stay far below.
EXTREME_PER_S = 50_000
LONG_NS = 1_000_000_000


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per thread that switched so often; of a recording, its programs' alone."""
    if evidence.scheduling.is_recorded:
        for row in evidence.rows(KIND):
            if evidence.concerns(evidence.threads[row.utid]):
                yield _finding(evidence, row)


def severity(peak_per_s: int, total_ns: int) -> Severity:
    """High if it switched 50,000 times a second, or 10,000 times a second for a second; medium otherwise."""
    return Severity.HIGH if peak_per_s >= EXTREME_PER_S or total_ns >= LONG_NS else Severity.MEDIUM


def _finding(evidence: Evidence, row: Any) -> Finding:  # noqa: ANN401  a row's columns are those of the query
    thread = evidence.threads[row.utid]
    waker = None if row.waker_utid is None else evidence.threads[row.waker_utid]
    return Finding(
        kind=KIND,
        severity=severity(row.peak_per_s, row.total_ns),
        process=thread.process,
        thread=thread.name,
        owner=waker.name if waker else None,
        where=None,
        owner_where=None,
        ts_ns=row.ts,
        dur_ns=row.dur,
        count=row.count,
        advice=_advice(thread, waker),
        detail=_detail(row, thread, waker),
    )


def _detail(row: Any, thread: Thread, waker: Thread | None) -> dict[str, Json]:  # noqa: ANN401  the query's row
    return {
        "lock": None,
        "owner_role": "mostly woken by",
        "total_ns": row.total_ns,
        "tid": thread.tid,
        "peak_per_s": row.peak_per_s,
        "involuntary": row.involuntary,
        "spells": row.spells,
        "ran_ns": row.ran_ns,
        "ran_per_switch_ns": row.ran_ns // (row.count + row.involuntary),
        "waker_tid": waker.tid if waker else None,
        "waker_process": waker.process if waker else None,
        "waker_wakeups": row.waker_wakeups,
        "summary": _summary(row, thread, waker),
    }


def _summary(row: Any, thread: Thread, waker: Thread | None) -> str:  # noqa: ANN401  the query's row
    each = format_duration(row.ran_ns // (row.count + row.involuntary))
    woken = f", mostly woken by {who(waker)}" if waker else ""
    return (
        f"{who(thread)} went to sleep {row.count} times in {format_duration(row.total_ns)}, up to "
        f"{row.peak_per_s} times a second, and ran {each} at a time{woken}."
    )


def _advice(thread: Thread, waker: Thread | None) -> str:
    if waker is None:
        return f"Let {thread.name} do more at a time: collect work before it is woken, or poll less often."
    return (
        f"Let {waker.name} hand over more at a time, or do the work of {thread.name} itself: threads that "
        "wait for each other all the time are no faster than one. If both must stay, put them on one CPU or "
        "on CPUs that share a cache ('unjank cpu pin')."
    )
