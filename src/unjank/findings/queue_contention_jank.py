"""Finding `queue-contention-jank`: main threads waited for their MessageQueue's lock; frames were late."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, Severity
from unjank.findings._queue_lock import queue_finding, queue_rows, queue_waits
from unjank.findings._units import counted, format_duration
from unjank.findings.lock_contention import QUARTER_FRAME_NS

KIND = "queue-contention-jank"

NOTABLE_NS = 1_000_000


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per process that had late frames and whose main thread waited for the lock."""
    for row in queue_rows(evidence, KIND):
        waits = queue_waits(evidence, row.upid)
        if waits:
            detail = {
                "janky_frames": row.janky_frames,
                "in_janky_frames": row.in_janky_frames,
                "in_janky_frames_ns": row.in_janky_frames_ns,
                "worst_in_janky_frames_ns": row.worst_in_janky_frames_ns,
                "summary": _summary(row, waits[0].waiter.process),
            }
            level = severity(row.worst_in_janky_frames_ns, row.in_janky_frames_ns)
            yield queue_finding(evidence, KIND, level, waits, detail)


def severity(worst_ns: int, total_ns: int) -> Severity:
    """How bad it is, by the time within late frames: one wait's and all waits'.

    High: a quarter of a frame at once. Medium: a millisecond at once, or a quarter of a frame together.
    """
    if worst_ns >= QUARTER_FRAME_NS:
        return Severity.HIGH
    if worst_ns >= NOTABLE_NS or total_ns >= QUARTER_FRAME_NS:
        return Severity.MEDIUM
    return Severity.LOW


def _summary(row: Any, process: str | None) -> str:  # noqa: ANN401  a row's columns are those of the query
    within = format_duration(row.in_janky_frames_ns) if row.in_janky_frames else "none"
    return (
        f"The main thread of {process or 'a process'} waited {format_duration(row.total_ns)} for its message "
        f"queue's lock in {counted(row.count, 'wait')}, {within} of it within the "
        f"{counted(row.janky_frames, 'frame')} that the app made late."
    )
