"""All rules, and the one call that applies them to a trace."""

from collections.abc import Callable, Iterable

from unjank.findings import (
    cross_core_handoff,
    deadlock_cycle,
    lock_contention,
    priority_inversion,
    queue_backlog,
    queue_contention_jank,
    queue_contention_startup,
    queue_delay,
    slow_dispatch,
    switch_storm,
    updater_hotspot,
)
from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, FindingSet
from unjank.findings._notes import take_notes
from unjank.findings._queryable import Queryable

Rule = Callable[[Evidence], Iterable[Finding]]

RULES: tuple[tuple[str, Rule], ...] = (
    (deadlock_cycle.KIND, deadlock_cycle.find),
    (priority_inversion.KIND, priority_inversion.find),
    (lock_contention.KIND, lock_contention.find),
    (queue_contention_jank.KIND, queue_contention_jank.find),
    (queue_contention_startup.KIND, queue_contention_startup.find),
    (queue_backlog.KIND, queue_backlog.find),
    (queue_delay.KIND, queue_delay.find),
    (slow_dispatch.KIND, slow_dispatch.find),
    (switch_storm.KIND, switch_storm.find),
    (cross_core_handoff.KIND, cross_core_handoff.find),
    (updater_hotspot.KIND, updater_hotspot.find),
)


def find_all(tp: Queryable) -> FindingSet:
    """Applies every rule to a trace.

    Args:
        tp: The trace, such as an `unjank.TraceProcessor`; used from the calling thread only. If it has
            `notes`, such as that the file was cut short, they come first among the result's.

    Returns:
        The findings, worst first, and notes on what the trace could not tell.
    """
    evidence = Evidence(tp)
    found = [finding for _, rule in RULES for finding in rule(evidence)]
    return FindingSet.ranked(found, [*getattr(tp, "notes", ()), *take_notes(evidence)])
