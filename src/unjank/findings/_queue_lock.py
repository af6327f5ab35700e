"""Waits of main threads for the lock of Android's MessageQueue, for the rules about them."""

from collections.abc import Iterable, Sequence
from typing import Any

from unjank.findings._advice import is_message_queue, message_queue_advice
from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._groups import chain_detail, known_owner, lock_detail, text
from unjank.findings._model import Finding, Json, Severity


def queue_rows(evidence: Evidence, kind: str) -> Iterable[Any]:
    """The rows of a kind's SQL; none, and nothing run, where no main thread waited for that lock."""
    some = any(wait.waiter.is_main and is_message_queue(wait) for wait in evidence.contentions)
    return evidence.rows(kind) if some else ()


def queue_waits(evidence: Evidence, upid: int) -> list[Contention]:
    """The waits of a process's main thread for its MessageQueue's lock, by start."""
    known = evidence.processes.canonical(upid)
    return [
        wait
        for wait in evidence.contentions
        if wait.waiter.is_main and wait.waiter.upid == known and is_message_queue(wait)
    ]


def queue_finding(
    evidence: Evidence,
    kind: str,
    severity: Severity,
    waits: Sequence[Contention],
    detail: dict[str, Json],
) -> Finding:
    """A finding on some of those waits; `detail` has the kind's own numbers and the summary."""
    worst = max(waits, key=lambda wait: wait.dur)
    return Finding(
        kind=kind,
        severity=severity,
        process=worst.waiter.process,
        thread=worst.waiter.name,
        owner=known_owner(worst),
        where=text(worst.waiter_site),
        owner_where=text(worst.owner_site),
        ts_ns=worst.start,
        dur_ns=worst.dur,
        count=len(waits),
        events_ns=tuple(wait.dur for wait in waits),
        advice=message_queue_advice(),
        detail={
            **lock_detail(waits, worst),
            "chain": chain_detail(evidence.chain(worst)),
            **detail,
        },
    )
