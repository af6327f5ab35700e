"""Applies a plan, measures with and without it in turn, and keeps it only if it is better."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from unjank._errors import CpuError
from unjank.cpu.affinity import set_affinity
from unjank.cpu.change import Applied
from unjank.cpu.errors import ThreadGoneError
from unjank.cpu.place.live import record_wakeups
from unjank.cpu.place.plan import Placement, Plan
from unjank.cpu.place.wakeups import WakeGraph
from unjank.cpu.threads import find_thread

Counter = Callable[[], float]
"""How much the program has done since its start."""

Record = Callable[[Sequence[int], float, Callable[[float], object]], WakeGraph]
"""Records some processes for some seconds, which a function given to it waits."""

_READS = 50  # of a file that is empty for a moment
_CLEARLY_FASTER = 1.05
_NOT_SLOWER = 0.98
_FEWER_CROSSINGS = 0.5
_NO_MORE_CPU = 1.02


@dataclass(frozen=True)
class Measured:
    """The program over some seconds; all figures a second.

    Attributes:
        rate: What it did: by its own counter, or hand-overs between the placed threads.
        switches: How often one of its threads took a CPU.
        wakeups: Wake-ups among its threads.
        crossed: Of these, to another CPU.
        load: CPUs used.
    """

    rate: float
    switches: float
    wakeups: float
    crossed: float
    load: float


@dataclass(frozen=True)
class Outcome:
    """What a trial found.

    Attributes:
        before: Without the plan, medians.
        after: With the plan, medians.
        kept: Whether the plan is in force now.
        reason: Why, in one sentence.
        rate_of: `counter` or `hand-overs`.
    """

    before: Measured
    after: Measured
    kept: bool
    reason: str
    rate_of: Literal["counter", "hand-overs"]


def try_plan(
    plan: Plan,
    seconds: float = 1.0,
    rounds: int = 3,
    counter: Counter | None = None,
    record: Record = record_wakeups,
) -> Outcome:
    """Measures without and with the plan, in turn, and leaves it in force only if it is better.

    Better is: a rate 5% higher, and higher in each round; or one that is no lower, with half the cross-core
    wake-ups and no more CPU time.

    Args:
        plan: Of threads that run now.
        seconds: Length of each measurement.
        rounds: Number of pairs of measurements.
        counter: Tells how much the program has done; without it hand-overs between the placed threads count,
            which says nothing about a program that would hand over less often when it is faster.
        record: Records and reads the graph.

    Raises:
        CpuError: There is nothing to try, the threads are gone, or may not be bound; what was is put back.
    """
    if not plan.placements:
        raise CpuError("there is nothing to apply: no threads wake each other often enough")
    pids = sorted({member.pid for placement in plan.placements for member in placement.members})
    tids = {member.tid for placement in plan.placements for member in placement.members}
    without, with_plan = [], []
    for _ in range(rounds):
        without.append(_measure(pids, tids, seconds, counter, record))
        with _apply(plan.placements):
            with_plan.append(_measure(pids, tids, seconds, counter, record))
    before, after = _medians(without), _medians(with_plan)
    gains = [on.rate / off.rate if off.rate else 0.0 for off, on in zip(without, with_plan, strict=True)]
    kept, reason = judge(before, after, gains)
    if kept:
        _apply(plan.placements).pop_all()
    return Outcome(before, after, kept, reason, "counter" if counter else "hand-overs")


def judge(before: Measured, after: Measured, gains: Sequence[float]) -> tuple[bool, str]:
    """Whether the figures with the plan are better, and why.

    Args:
        before: Without the plan, medians of the rounds.
        after: With it.
        gains: Rate with the plan over the rate without, of each round.
    """
    gain = median(gains)
    if before.rate <= 0:
        return False, "the program was not seen to do anything without the plan; measure longer (--seconds)"
    if gain >= _CLEARLY_FASTER and min(gains) > 1.0:
        return True, f"its rate is {gain:.2f} times what it was"
    if gain >= _CLEARLY_FASTER:
        return False, f"its rate is {gain:.2f} times what it was, but not in each round: {_listed(gains)}"
    if gain < _NOT_SLOWER:
        return False, f"its rate fell to {gain:.2f} times what it was"
    fewer = after.crossed <= before.crossed * _FEWER_CROSSINGS
    if fewer and after.load <= before.load * _NO_MORE_CPU:
        return True, (
            f"at the same rate ({gain:.2f} times) it has {_part(after.crossed, before.crossed)} of the "
            f"cross-core wake-ups and needs {_part(after.load, before.load)} of the CPU time"
        )
    return False, f"its rate is the same ({gain:.2f} times), and it costs no less"


def read_counter(path: Path) -> Counter:
    """A counter in a file: the first word of its text is a number that grows.

    Raises:
        CpuError: The file can't be read or has no number.
    """

    def count() -> float:
        for _ in range(_READS):
            words = _text(path).split()
            if words:
                break
            time.sleep(0.001)  # the program is just writing it anew
        try:
            return float(words[0])
        except (ValueError, IndexError) as error:
            raise CpuError(f"{path} holds no number to count by; have the program write one there") from error

    count()
    return count


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CpuError(f"{path} cannot be read: {error}; name the file the program counts in") from error


def _measure(
    pids: Sequence[int],
    tids: set[int],
    seconds: float,
    counter: Counter | None,
    record: Record,
) -> Measured:
    counted: list[float] = []

    def wait_and_count(duration: float) -> None:
        begin, first = time.monotonic(), counter() if counter else 0.0
        time.sleep(duration)
        if counter:
            counted.append((counter() - first) / (time.monotonic() - begin))

    graph = record(pids, seconds, wait_and_count)
    placed = {member.utid for member in graph.members.values() if member.tid in tids}
    handed = sum(e.per_s for e in graph.edges if e.waker in placed and e.woken in placed)
    return Measured(
        rate=counted[0] if counted else handed,
        switches=graph.switches_per_s,
        wakeups=sum(edge.per_s for edge in graph.edges),
        crossed=sum(edge.crossed_per_s for edge in graph.edges),
        load=sum(member.load for member in graph.members.values()),
    )


def _medians(measured: Sequence[Measured]) -> Measured:
    return Measured(
        rate=median(m.rate for m in measured),
        switches=median(m.switches for m in measured),
        wakeups=median(m.wakeups for m in measured),
        crossed=median(m.crossed for m in measured),
        load=median(m.load for m in measured),
    )


def _apply(placements: Sequence[Placement]) -> ExitStack:
    """Binds all threads of a plan that live; leaving the stack puts them back."""
    with ExitStack() as stack:
        for placement in placements:
            for member in placement.members:
                applied = _bind(member.pid, member.tid, placement.cpus)
                if applied is not None:
                    stack.enter_context(applied)
        return stack.pop_all()


def _bind(pid: int, tid: int, cpus: frozenset[int]) -> Applied[frozenset[int]] | None:
    try:
        thread = find_thread(tid)
        # An id that belongs to another process by now is not the thread that was seen.
        return set_affinity(thread, cpus) if thread.pid == pid else None
    except ThreadGoneError:
        return None


def _listed(gains: Sequence[float]) -> str:
    return ", ".join(f"{gain:.2f}" for gain in gains)


def _part(now: float, before: float) -> str:
    return f"{now / before:.0%}" if before else "as much"
