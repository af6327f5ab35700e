"""Finding `priority-inversion`: the holder of a lock had no CPU while another thread waited for the lock."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from unjank.findings._advice import inversion_advice
from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._groups import chain_detail, group_waits, known_owner, lock_detail, text
from unjank.findings._model import Finding, Json, Severity
from unjank.findings._owner_time import OwnerTime, Rival, owner_time
from unjank.findings._scheduling import PRIORITY_OF_NICE_0
from unjank.findings._sentences import listed, wait_sentence
from unjank.findings._units import format_duration
from unjank.findings.lock_contention import FRAME_NS, QUARTER_FRAME_NS

KIND = "priority-inversion"

SHORTEST_NS = 100_000  # below, a switch of threads itself explains it
SMALLEST_SHARE = 0.2  # of the wait; below, the lock's holder is slow for other reasons
SERIOUS_NS = 1_000_000
_FIRST_NORMAL_PRIORITY = 100  # the kernel's numbers below are real-time priorities


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per lock and owner site whose owner was kept off the CPU during waits."""
    for group in group_waits(evidence.contentions):
        measured = (owner_time(evidence, wait, shortest(wait)) for wait in group.waits)
        times = [time for time in measured if time and time.taken >= shortest(time.wait)]
        if times:
            yield _finding(evidence, times)


def shortest(wait: Contention) -> float:
    """For how long, in ns, others must have had the owner's CPU for that to explain a wait."""
    return max(SHORTEST_NS, SMALLEST_SHARE * wait.dur)


def severity(times: Sequence[OwnerTime]) -> Severity:
    """How bad it is: the worst of the waits.

    High: the waiter's priority is above the owner's, and the owner was kept off for a quarter of a frame
    while an interactive thread waited, or for a frame while any did. Medium: kept off for a millisecond,
    whatever the priorities. Low: the rest.
    """
    if any(_is_high(time) for time in times):
        return Severity.HIGH
    longest = max(time.held_off for time in times)
    return Severity.MEDIUM if longest >= SERIOUS_NS else Severity.LOW


def _is_high(time: OwnerTime) -> bool:
    enough = QUARTER_FRAME_NS if time.is_interactive else FRAME_NS
    return time.is_outranked and time.held_off >= enough


def _finding(evidence: Evidence, times: Sequence[OwnerTime]) -> Finding:
    worst = max(times, key=lambda time: (time.is_outranked, time.held_off))
    wait = worst.wait
    rivals = _merged([time.rivals for time in times])
    return Finding(
        kind=KIND,
        severity=severity(times),
        process=wait.waiter.process,
        thread=wait.waiter.name,
        owner=known_owner(wait),
        where=text(wait.waiter_site),
        owner_where=text(wait.owner_site),
        ts_ns=wait.start,
        dur_ns=wait.dur,
        count=len(times),
        events_ns=tuple(time.wait.dur for time in times),
        advice=inversion_advice(wait, outranked=worst.is_outranked, rivals_known=bool(rivals)),
        detail={
            **lock_detail([time.wait for time in times], wait),
            **_time_detail(times, worst),
            "ran_instead": [_rival_entry(rival) for rival in rivals],
            "chain": chain_detail(evidence.chain(wait)),
            "summary": _summary(worst),
        },
    )


def _time_detail(times: Sequence[OwnerTime], worst: OwnerTime) -> dict[str, Json]:
    """Sums over all waits, and the worst one's own figures under `worst`."""
    return {
        "inversion": worst.is_outranked,
        "source": worst.source,
        "held_off_ns": sum(time.held_off for time in times),
        "owner_ran_ns": sum(time.ran for time in times),
        "owner_blocked_ns": sum(time.blocked for time in times),
        "cpus": sorted({cpu for time in times for cpu in time.cpus}),
        "waiter_priority": worst.waiter_priority,
        "waiter_nice": _nice(worst.waiter_priority),
        "owner_priority": worst.owner_priority,
        "owner_nice": _nice(worst.owner_priority),
        "worst": {
            "held_off_ns": worst.held_off,
            "owner_ran_ns": worst.ran,
            "owner_blocked_ns": worst.blocked,
            "ran_instead": [_rival_entry(rival) for rival in worst.rivals],
        },
    }


def _merged(lists: Sequence[Sequence[Rival]]) -> list[Rival]:
    """Adds up the rivals of several waits, longest first."""
    by_thread: dict[int, list[Rival]] = defaultdict(list)
    for rival in (rival for rivals in lists for rival in rivals):
        by_thread[rival.thread.utid].append(rival)
    sums = [
        Rival(same[0].thread, sum(r.ran for r in same), min(r.priority for r in same))
        for same in by_thread.values()
    ]
    return sorted(sums, key=lambda rival: -rival.ran)


def _rival_entry(rival: Rival) -> dict[str, Json]:
    return {
        "thread": rival.thread.name,
        "tid": rival.thread.tid,
        "process": rival.thread.process,
        "total_ns": rival.ran,
        "priority": rival.priority,
        "nice": _nice(rival.priority),
    }


def _nice(priority: int | None) -> int | None:
    """The nice value of a priority; real-time threads have none."""
    return None if priority is None or priority < _FIRST_NORMAL_PRIORITY else priority - PRIORITY_OF_NICE_0


def _summary(time: OwnerTime) -> str:
    sentence = f"{wait_sentence(time.wait)}, which was kept off the CPU for {format_duration(time.held_off)}"
    if time.rivals:
        sentence += f" by {listed(list(dict.fromkeys(rival.thread.name for rival in time.rivals)))}"
    if time.is_outranked:
        sentence += " although the waiter has the higher priority"
    return sentence + "."
