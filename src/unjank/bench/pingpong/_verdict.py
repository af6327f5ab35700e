"""What was measured: decided by the kernel's counters, not by what was asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unjank.bench.pingpong._placements import Placement
from unjank.bench.pingpong._run import Counts, Run
from unjank.cpu import format_cpu_list

Measured = Literal["context switch", "cross-core coordination"]

CONTEXT_SWITCH: Measured = "context switch"
CROSS_CORE: Measured = "cross-core coordination"

_ONE_KIND = 0.95  # share of rounds that must be of one kind to speak of that kind
_SWITCHES = (1.8, 2.6)  # in a round on one CPU there are two; others' time slices add a few
_LEAST_SLEEPS = 1.0  # of two waits in a round across CPUs


@dataclass(frozen=True)
class Verdict:
    """What one run measured.

    Attributes:
        measured: The kind of hand-over; None: it is refused.
        reason: Why it is refused; empty otherwise.
    """

    measured: Measured | None
    reason: str = ""


def judge(run: Run, placement: Placement) -> Verdict:
    """Which kind of hand-over the counters prove; none if they contradict the placement or each other.

    Context switch: both sides on one CPU, and two switches for each round. Cross-core coordination: on two
    CPUs, and the waiting side slept.
    """
    doubts = [*_misplaced(run.caller, placement.first), *_misplaced(run.echo, placement.second)]
    if doubts:
        return Verdict(None, doubts[0])
    if run.apart <= 1 - _ONE_KIND:
        return _context_switch(run)
    if run.apart >= _ONE_KIND:
        return _cross_core(run)
    return Verdict(
        None,
        f"the scheduler had both on one CPU in {1 - run.apart:.0%} of the rounds and apart in the others: "
        "neither kind was measured",
    )


def _misplaced(side: Counts, cpu: int) -> Iterator[str]:
    if cpu < 0:
        return
    if side.cpus != (cpu,):
        yield f"a side pinned to CPU {cpu} was seen on {format_cpu_list(side.cpus) or 'none'}"
    if side.migrations:
        yield f"the kernel migrated a side pinned to CPU {cpu}, {side.migrations} times"


def _context_switch(run: Run) -> Verdict:
    fewest, most = _SWITCHES
    count = run.switches_per_round
    if count < fewest:
        return Verdict(
            None, f"the kernel counted {count:.2f} switches a round on one CPU, where 2 are needed"
        )
    if count > most:
        return Verdict(
            None, f"the kernel counted {count:.2f} switches a round: others took the CPU in between"
        )
    return Verdict(CONTEXT_SWITCH)


def _cross_core(run: Run) -> Verdict:
    if run.sleeps_per_round < _LEAST_SLEEPS:
        return Verdict(
            None,
            f"of 2 waits a round only {run.sleeps_per_round:.2f} slept: the answer was there already, as "
            "others had kept the waiting side off its CPU",
        )
    return Verdict(CROSS_CORE)
