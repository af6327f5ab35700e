"""Finding `deadlock-cycle`: threads waited for each other in a circle, or a thread for itself.

They wait for locks, or for another thread's end.

A wait names who held the lock when it began. Whoever closes a circle waits for a thread that has been
blocked ever since and so cannot have released anything; the earlier waits' owners may in principle have
released their lock before that. A circle therefore counts only if its first wait to end was not ended by
getting the lock, and if no later wait for one of its locks names another owner.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._groups import known_owner, link_detail, lock_detail, text
from unjank.findings._model import Finding, Severity
from unjank.findings._sentences import held_by, in_code, listed, who
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration
from unjank.findings._waits import SelfWait

KIND = "deadlock-cycle"

# A released lock may take this long to reach the thread that waits for it. Circles that are younger
# when the trace ends may still come undone, unless the program hung and its last events are the circle.
HANDOVER_NS = 10_000_000
_GIVEN_UP = ("timeout", "interrupted")


@dataclass(frozen=True)
class Cycle:
    """A circle of waits, each for a lock of the next one's waiter, the last for one of the first's.

    Attributes:
        waits: The waits, beginning with the one that closed the circle.
    """

    waits: tuple[Contention, ...]

    @property
    def start(self) -> int:
        """When the circle closed."""
        return self.waits[0].start

    @property
    def broken_by(self) -> Contention:
        """The wait that ended first; open ones end with the trace."""
        return min(self.waits, key=lambda wait: (wait.end, not wait.is_open))

    @property
    def dur(self) -> int:
        """How long no thread of the circle could go on, ns."""
        return self.broken_by.end - self.start

    @property
    def is_final(self) -> bool:
        """True if it never came undone by itself: open at the end, or somebody had to interrupt it."""
        return self.broken_by.is_open or self.broken_by.result == "interrupted"


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per circle of threads and locks, and one per thread that waits for itself."""
    repeats: dict[frozenset[tuple[int, str]], list[Cycle]] = defaultdict(list)
    index = _LockIndex(evidence.contentions)
    for wait in (*evidence.contentions, *evidence.joins):
        cycle = _closed_by(evidence, wait)
        if cycle and _holds(evidence, cycle) and not index.disproves(cycle):
            repeats[frozenset((w.waiter.utid, w.lock_label) for w in cycle.waits)].append(cycle)
    yield from (_cycle_finding(cycles) for cycles in repeats.values())
    yield from (_self_finding(wait) for wait in _waits_for_self(evidence))


def severity(cycle: Cycle) -> Severity:
    """High if it lasted until the trace ended or it was interrupted, medium if a time-out broke it."""
    return Severity.HIGH if cycle.is_final else Severity.MEDIUM


def _closed_by(evidence: Evidence, wait: Contention) -> Cycle | None:
    """The circle that `wait`, the last one to begin, closes."""
    waits, owner = [wait], wait.owner
    seen = {wait.waiter.utid}
    while owner and owner.utid not in seen:
        seen.add(owner.utid)
        blocked = evidence.wait_at(owner, wait.start)
        if blocked is None:
            return None
        waits.append(blocked)
        owner = blocked.owner
    closed = len(waits) > 1 and owner is not None and owner.utid == wait.waiter.utid
    return Cycle(tuple(waits)) if closed else None


def _holds(evidence: Evidence, cycle: Cycle) -> bool:
    """True if what ended the circle, if anything, proves that no lock in it was released before."""
    broken_by = cycle.broken_by
    if broken_by.is_open:
        return _is_settled(evidence, cycle.waits[0].waiter, cycle.dur)
    return broken_by.result in _GIVEN_UP


def _is_settled(evidence: Evidence, thread: Thread, dur: int) -> bool:
    """True if an open wait of that length would have ended if it could."""
    return dur >= HANDOVER_NS or evidence.was_cut_off(thread.upid)


class _LockIndex:
    """Waits by lock object, to learn of other owners while a circle is closed."""

    def __init__(self, waits: Iterable[Contention]) -> None:
        self._waits = waits

    def disproves(self, cycle: Cycle) -> bool:
        """True if another thread than the supposed owner held one of the locks after the circle closed."""
        return any(self._other_owner(cycle, wait) for wait in cycle.waits)

    def _other_owner(self, cycle: Cycle, wait: Contention) -> bool:
        if wait.lock_id is None:
            return False
        later = self._by_lock[wait.waiter.upid, wait.lock_id]
        return any(
            cycle.start < other.start < cycle.broken_by.end and other.owner and other.owner != wait.owner
            for other in later
        )

    @cached_property
    def _by_lock(self) -> dict[tuple[int | None, int | None], list[Contention]]:
        waits: dict[tuple[int | None, int | None], list[Contention]] = defaultdict(list)
        for wait in self._waits:
            waits[wait.waiter.upid, wait.lock_id].append(wait)
        return waits


def _waits_for_self(evidence: Evidence) -> Iterator[SelfWait]:
    """Waits on own locks that never ended, of locks that no other thread was ever seen to release."""
    waits = evidence.self_waits
    signalled = {(w.waiter.upid, w.lock_id, w.lock) for w in waits if w.result == "acquired"}
    for wait in waits:
        settled = wait.is_open and _is_settled(evidence, wait.waiter, wait.end - wait.start)
        stuck = settled or wait.result == "interrupted"
        if stuck and (wait.waiter.upid, wait.lock_id, wait.lock) not in signalled:
            yield wait


def _cycle_finding(cycles: Sequence[Cycle]) -> Finding:
    worst = max(cycles, key=lambda cycle: (cycle.is_final, cycle.dur))
    first = worst.waits[0]
    detail = lock_detail(worst.waits, first)
    return Finding(
        kind=KIND,
        severity=severity(worst),
        process=first.waiter.process,
        thread=first.waiter.name,
        owner=known_owner(first),
        where=text(first.waiter_site),
        owner_where=text(first.owner_site),
        ts_ns=worst.start,
        dur_ns=worst.dur,
        count=len(cycles),
        events_ns=tuple(cycle.dur for cycle in cycles),
        advice=_advice(worst),
        detail={
            **detail,
            "total_ns": sum(cycle.dur for cycle in cycles),
            "cycle": [link_detail(wait) for wait in worst.waits],
            "broken_by": None if worst.broken_by.is_open else worst.broken_by.result,
            "summary": _cycle_summary(worst),
        },
    )


def _advice(cycle: Cycle) -> str:
    if any(wait.is_join for wait in cycle.waits):
        return "Don't wait for a thread to end while holding a lock that it needs: let go of the lock first."
    locks = listed(sorted({wait.lock_label for wait in cycle.waits}), 5)
    return (
        f"Take {locks} in the same order everywhere, or one lock for all of it; where that cannot be, take "
        "the later ones with a time-out and start over."
    )


def _cycle_summary(cycle: Cycle) -> str:
    waits = "; ".join(_each_waits(wait) for wait in cycle.waits)
    if cycle.broken_by.is_open:
        end = "they were still waiting when the trace ended"
    elif cycle.broken_by.result == "interrupted":
        end = f"only an interrupt of {cycle.broken_by.waiter.name} ended it"
    else:
        end = f"only the time-out of {cycle.broken_by.waiter.name} ended it"
    process = cycle.waits[0].waiter.process
    place = f" in {process}" if process else ""
    return f"Deadlock{place} for {format_duration(cycle.dur)}: {waits}; {end}."


def _each_waits(wait: Contention) -> str:
    place = f" in {in_code(wait.waiter_site)}" if wait.waiter_site else ""
    return f"{wait.waiter.name} waits{place} for {wait.lock or 'a monitor'}{held_by(wait)}"


def _self_finding(wait: SelfWait) -> Finding:
    lock = wait.lock or "a lock"
    duration = wait.end - wait.start
    place = f" in {in_code(wait.site)}" if wait.site else ""
    return Finding(
        kind=KIND,
        severity=Severity.HIGH,
        process=wait.waiter.process,
        thread=wait.waiter.name,
        owner=wait.waiter.name,
        where=text(wait.site),
        owner_where=None,
        ts_ns=wait.start,
        dur_ns=duration,
        count=1,
        advice=f"Make {lock} an RLock if its holder may take it again, or take it in one place only.",
        detail={
            "lock": lock,
            "lock_known": wait.lock is not None,
            "total_ns": duration,
            "waiter_tid": wait.waiter.tid,
            "owner_tid": wait.waiter.tid,
            "stack": wait.stack,
            "broken_by": wait.result,
            "cycle": [],
            "summary": (
                f"{who(wait.waiter)} waited {format_duration(duration)}{place} for {lock}, which it holds "
                "itself, and nothing but the end of the trace or an interrupt ended it."
            ),
        },
    )
