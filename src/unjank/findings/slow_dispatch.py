"""Finding `slow-dispatch`: a message of an Android looper took so long that those behind it waited."""

from collections.abc import Iterator
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._looper_time import LooperTime, cpu_advice, looper_time
from unjank.findings._model import Finding, Severity
from unjank.findings._sentences import short_method, who
from unjank.findings._threads import Thread
from unjank.findings._units import counted, format_duration
from unjank.findings.lock_contention import NOTICEABLE_NS

KIND = "slow-dispatch"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per thread and kind of message; of threads that nobody waits for only long ones."""
    for row in evidence.rows(KIND):
        thread = evidence.threads[row.utid]
        if thread.is_interactive or row.dur >= NOTICEABLE_NS:
            yield _finding(row, thread, looper_time(evidence, thread, row.ts, row.dur))


def severity(thread: Thread, longest_ns: int) -> Severity:
    """High if an interactive thread ran one message for a noticeable time, else medium."""
    return Severity.HIGH if thread.is_interactive and longest_ns >= NOTICEABLE_NS else Severity.MEDIUM


def message_name(handler: str | None, callback: str | None) -> str:
    """A kind of message: the callback's class, or for a number the handler's and the number."""
    if callback and callback != "null" and not callback.startswith("#"):
        return callback
    number = f" {callback}" if callback and callback.startswith("#") else ""
    return f"{handler or 'a handler'}{number}"


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
        advice=cpu_advice(thread, time) if time.lacked_cpu else _do_elsewhere(thread, message),
        detail={
            "lock": None,
            "total_ns": row.total_ns,
            "tid": thread.tid,
            "handler": row.handler,
            "callback": row.callback,
            "runs": row.runs,
            "run_ns": row.run_ns,
            "logged": row.logged,
            "looper_states": time.detail(),
            "summary": _summary(row, thread, message),
        },
    )


def _do_elsewhere(thread: Thread, message: str) -> str:
    return (
        f"Do the work of {short_method(message)} on another thread and post the result, or split it into "
        f"messages that take less than a frame, so that others on {thread.name} get their turn."
    )


def _summary(row: Any, thread: Thread, message: str) -> str:  # noqa: ANN401  a row's columns are the query's
    slow = f"{counted(row.count, 'message')} of that kind took a frame or longer"
    return (
        f"{who(thread)} ran {short_method(message)} for {format_duration(row.dur)} at once; {slow}, "
        f"{format_duration(row.total_ns)} together, and those behind them had to wait."
    )
