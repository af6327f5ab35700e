"""Finding `queue-contention-startup`: main threads waited for their MessageQueue's lock during starts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, Severity
from unjank.findings._queue_lock import queue_finding, queue_rows, queue_waits
from unjank.findings._units import counted, format_duration
from unjank.findings.lock_contention import FRAME_NS, NOTICEABLE_NS

KIND = "queue-contention-startup"

LARGE_SHARE = 0.1  # of the start
NOTABLE_SHARE = 0.01


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per start of an app whose main thread waited for the lock meanwhile."""
    for row in queue_rows(evidence, KIND):
        end = row.startup_ts + row.startup_ns
        waits = [_cut(w, row.startup_ts, end) for w in queue_waits(evidence, row.upid)]
        within = [wait for wait in waits if wait.dur > 0]
        if within:
            detail = {
                "startup_id": row.startup_id,
                "startup_type": row.startup_type,
                "startup_ts_ns": row.startup_ts,
                "startup_ns": row.startup_ns,
                "summary": _summary(row, within[0].waiter.process),
            }
            level = severity(row.total_ns, row.startup_ns)
            yield queue_finding(evidence, KIND, level, within, detail)


def severity(total_ns: int, startup_ns: int) -> Severity:
    """How bad it is, by all waits during the start.

    High: a noticeable time, or a frame and a tenth of the start. Medium: a frame, or a hundredth of it.
    """
    if total_ns >= NOTICEABLE_NS or (total_ns >= FRAME_NS and total_ns >= LARGE_SHARE * startup_ns):
        return Severity.HIGH
    if total_ns >= FRAME_NS or total_ns >= NOTABLE_SHARE * startup_ns:
        return Severity.MEDIUM
    return Severity.LOW


def _cut(wait: Contention, start: int, end: int) -> Contention:
    return replace(wait, start=max(wait.start, start), end=min(wait.end, end))


def _summary(row: Any, process: str | None) -> str:  # noqa: ANN401  a row's columns are those of the query
    kind = f"{row.startup_type} start" if row.startup_type else "start"
    waits = counted(row.count, "wait")
    return (
        f"During its {kind} of {format_duration(row.startup_ns)} the main thread of {process or 'a process'} "
        f"waited {format_duration(row.total_ns)} for its message queue's lock, in {waits}."
    )
