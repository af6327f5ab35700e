"""Finding `queue-delay`: Android's loopers ran messages late, as they told logcat."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding
from unjank.findings._sentences import short_method, who
from unjank.findings._threads import Thread
from unjank.findings._units import counted, format_duration
from unjank.findings.queue_backlog import severity
from unjank.findings.slow_dispatch import message_name

KIND = "queue-delay"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per looper; its severity is that of `queue-backlog`."""
    for row in evidence.rows(KIND):
        yield _finding(row, evidence.threads[row.utid])


def _finding(row: Any, thread: Thread) -> Finding:  # noqa: ANN401  a row's columns are those of the query
    message = message_name(row.handler, row.callback)
    return Finding(
        kind=KIND,
        severity=severity(thread, row.dur),
        process=thread.process,
        thread=thread.name,
        owner=None,
        where=message,
        owner_where=None,
        ts_ns=row.ts,
        dur_ns=row.dur,
        count=row.count,
        advice=(
            f"Look for what {thread.name} ran before that message: record the atrace categories view and am "
            "to have its messages by name, and the kernel's scheduling to see whether it had a CPU."
        ),
        detail={
            "lock": None,
            "total_ns": row.total_ns,
            "tid": thread.tid,
            "handler": row.handler,
            "callback": row.callback,
            "summary": (
                f"{who(thread)} ran {short_method(message)} {format_duration(row.dur)} late, the latest of "
                f"{counted(row.count, 'message')} that its looper called slow to arrive."
            ),
        },
    )
