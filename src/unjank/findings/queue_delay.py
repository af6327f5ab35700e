"""Finding `queue-delay`: Android's loopers ran messages late, as they told logcat."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._looper_time import LooperTime, cpu_advice, looper_time
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
        thread = evidence.threads[row.utid]
        yield _finding(row, thread, looper_time(evidence, thread, row.ts, row.dur))


def _finding(row: Any, thread: Thread, time: LooperTime) -> Finding:  # noqa: ANN401  a row's columns are those of the query
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
        advice=cpu_advice(thread, time) if time.lacked_cpu else _look_before(thread, time),
        detail={
            "lock": None,
            "total_ns": row.total_ns,
            "tid": thread.tid,
            "handler": row.handler,
            "callback": row.callback,
            "looper_states": time.detail(),
            "summary": _summary(row, thread, message, time),
        },
    )


def _look_before(thread: Thread, time: LooperTime) -> str:
    """Advice where the thread had a CPU, or the trace does not tell."""
    scheduling = "" if time.is_known else ", and the kernel's scheduling to see whether it had a CPU"
    return (
        f"Look for what {thread.name} ran before that message: record the atrace categories ss, wm and am, "
        f"and the app's own (atrace_apps), to have its messages by name{scheduling}."
    )


def _summary(row: Any, thread: Thread, message: str, time: LooperTime) -> str:  # noqa: ANN401  as above
    late = f"{who(thread)} ran {short_method(message)} {format_duration(row.dur)} late"
    if time.lacked_cpu:
        late += f", and had no CPU for {format_duration(time.off_cpu)} of that"
    if row.count > 1:
        late += f"; it is the latest of {counted(row.count, 'message')} that its looper called slow to arrive"
    return f"{late}."
