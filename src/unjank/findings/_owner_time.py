"""What the owner of a lock did while another thread waited: ran, waited for a CPU, or was blocked."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._scheduling import PRIORITY_OF_NICE_0, CpuSpan, ThreadSpan
from unjank.findings._threads import Thread


@dataclass(frozen=True)
class Rival:
    """A thread that ran on the owner's CPU while the owner could have.

    Attributes:
        thread: Who.
        ran: For how long, ns.
        priority: The most urgent priority it had meanwhile (kernel's number).
    """

    thread: Thread
    ran: int
    priority: int


@dataclass(frozen=True)
class OwnerTime:
    """The owner's time during one wait.

    Attributes:
        wait: The wait.
        held_off: Time the owner could run but had no CPU, ns.
        taken: The part of it in which other threads than the waiter ran on its CPU; `held_off` itself
            where that is not recorded.
        ran: Time the owner ran, ns.
        blocked: Time it slept or waited for something else, ns.
        rivals: Who ran instead, longest first; empty where that is not recorded.
        cpus: The CPUs concerned.
        is_interactive: True if the waiter, or a thread that waits behind it, is one a person waits for.
        waiter_priority: The most urgent priority among the waiter and those that wait behind it, None
            if unknown.
        owner_priority: None if unknown.
        source: `sched` (the kernel's scheduling) or `schedstat` (/proc/PID/task/TID/schedstat).
    """

    wait: Contention
    held_off: int
    taken: int
    ran: int
    blocked: int
    rivals: tuple[Rival, ...]
    cpus: tuple[int, ...]
    is_interactive: bool
    waiter_priority: int | None
    owner_priority: int | None
    source: str

    @property
    def is_outranked(self) -> bool:
        """True if the waiter has the higher priority; if its own is unknown, if the owner's is lowered."""
        if self.owner_priority is None:
            return False
        if self.waiter_priority is None:
            return self.owner_priority > PRIORITY_OF_NICE_0
        return self.owner_priority > self.waiter_priority


def owner_time(evidence: Evidence, wait: Contention, at_least: float = 0) -> OwnerTime | None:
    """Measures the owner during a wait, from the best source the trace has.

    Returns:
        None if the trace has no source, or if the owner was kept off the CPU for less than `at_least` ns.
    """
    if wait.owner and evidence.scheduling.is_recorded:
        states = evidence.scheduling.states(wait.owner.utids, wait.start, wait.end)
        if states:
            off = sum(span.dur for span in states if span.is_runnable)
            return _from_sched(evidence, wait, wait.owner, states) if off >= at_least else None
    if wait.owner_wait_ns is not None and wait.owner_wait_ns >= at_least:
        return _from_schedstat(evidence, wait, wait.owner_wait_ns)
    return None


def _from_sched(evidence: Evidence, wait: Contention, owner: Thread, states: list[ThreadSpan]) -> OwnerTime:
    held_off = [span for span in states if span.is_runnable]
    ran = sum(span.dur for span in states if span.state == "Running")
    off = sum(span.dur for span in held_off)
    rivals = _rivals(evidence, wait, held_off)
    waits = [wait, *evidence.waiting_behind(wait)]
    return OwnerTime(
        wait=wait,
        held_off=off,
        taken=sum(rival.ran for rival in rivals),
        ran=ran,
        blocked=sum(span.dur for span in states) - ran - off,
        rivals=rivals,
        cpus=tuple(sorted({span.cpu for span in held_off if span.cpu is not None})),
        is_interactive=any(each.waiter.is_interactive for each in waits),
        waiter_priority=_most_urgent(evidence, waits, wait.start),
        owner_priority=evidence.priority(owner, wait.end),
        source="sched",
    )


def _from_schedstat(evidence: Evidence, wait: Contention, off: int) -> OwnerTime:
    """Clips what the kernel's counters say to the wait: they are read a moment before and after it."""
    off = max(0, min(off, wait.dur))
    ran = max(0, min(wait.owner_run_ns or 0, wait.dur - off))
    owner = None if wait.owner_nice is None else PRIORITY_OF_NICE_0 + wait.owner_nice
    if owner is None and wait.owner:
        owner = evidence.priority(wait.owner, wait.end)
    waits = [wait, *evidence.waiting_behind(wait)]
    return OwnerTime(
        wait=wait,
        held_off=off,
        taken=off,
        ran=ran,
        blocked=wait.dur - off - ran,
        rivals=(),
        cpus=(),
        is_interactive=any(each.waiter.is_interactive for each in waits),
        waiter_priority=_most_urgent(evidence, waits, wait.start),
        owner_priority=owner,
        source="schedstat",
    )


def _most_urgent(evidence: Evidence, waits: Sequence[Contention], start: int) -> int | None:
    """A thread that waits behind the waiter waits for the owner too, so the most urgent one counts."""
    known = [evidence.priority(wait.waiter, max(wait.start, start)) for wait in waits]
    return min((priority for priority in known if priority is not None), default=None)


def _rivals(evidence: Evidence, wait: Contention, held_off: list[ThreadSpan]) -> tuple[Rival, ...]:
    spans: dict[int, list[CpuSpan]] = defaultdict(list)
    for span in held_off:
        for running in _running_instead(evidence, wait, span):
            spans[evidence.threads[running.utid].utid].append(running)
    rivals = [
        Rival(evidence.threads[utid], sum(s.end - s.start for s in ran), min(s.priority for s in ran))
        for utid, ran in spans.items()
    ]
    return tuple(sorted(rivals, key=lambda rival: -rival.ran))


def _running_instead(evidence: Evidence, wait: Contention, span: ThreadSpan) -> list[CpuSpan]:
    """Who ran on the CPU the owner waited for; of two candidates the one that was busier."""
    candidates = [
        list(_others(evidence, wait, cpu, span)) for cpu in (span.cpu, span.other_cpu) if cpu is not None
    ]
    return max(candidates, key=lambda ran: sum(s.end - s.start for s in ran), default=[])


def _others(evidence: Evidence, wait: Contention, cpu: int, span: ThreadSpan) -> Iterator[CpuSpan]:
    own = {*wait.waiter.utids, *(wait.owner.utids if wait.owner else ())}
    running = evidence.scheduling.running_on(cpu, span.start, span.end)
    return (other for other in running if other.utid not in own)
