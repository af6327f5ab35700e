"""Which findings tell of the same wait, so that a report says it once and leads with the cause."""

from collections.abc import Mapping, Sequence

from unjank.findings import Finding, Json


def best_explained(worst: Finding, findings: Sequence[Finding]) -> Finding:
    """Of the findings on the worst wait, the one that says more than that there was a wait."""
    causes = (finding for finding in findings if finding.kind != "lock-contention")
    return next((cause for cause in causes if is_about(cause, worst)), worst)


def is_about(cause: Finding, wait: Finding) -> bool:
    """True if both tell of the same wait, or the wait is part of the circle that `cause` tells of."""
    if (cause.ts_ns, cause.dur_ns, cause.thread) == (wait.ts_ns, wait.dur_ns, wait.thread):
        return True
    tid = wait.detail.get("waiter_tid")
    return any((link.get("ts_ns"), link.get("tid")) == (wait.ts_ns, tid) for link in circle(cause))


def circle(finding: Finding) -> Sequence[Mapping[str, Json]]:
    """The waits of a circle, for kinds that tell one."""
    return entries(finding.detail.get("cycle"))


def entries(value: Json) -> Sequence[Mapping[str, Json]]:
    """The objects of a list in `detail`; none if it is no list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [entry for entry in value if isinstance(entry, Mapping)]
