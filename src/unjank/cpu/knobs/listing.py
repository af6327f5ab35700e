"""All knobs of a machine with their values, for people who want to know what there is."""

from collections.abc import Iterator
from dataclasses import dataclass

from unjank._errors import CpuError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.clamps import ThreadClamp
from unjank.cpu.knobs.cpufreq import FrequencyLimit, Governor, policies
from unjank.cpu.knobs.knob import HeldKnob, Knob
from unjank.cpu.knobs.latency import WakeLatency
from unjank.cpu.knobs.perflock import PerfLock
from unjank.cpu.knobs.turbo import turbo_knobs
from unjank.cpu.scheduler import Scheduler
from unjank.cpu.threads import ThreadRef


@dataclass(frozen=True)
class KnobState:
    """A knob, whether it is there, and its value; None where it is absent or cannot be read, and then why."""

    name: str
    present: bool
    value: str | None
    reason: str = ""


def list_knobs(tree: KernelTree, scheduler: Scheduler, thread: ThreadRef) -> list[KnobState]:
    """Every knob there could be.

    Args:
        tree: The kernel's files.
        scheduler: The kernel's calls.
        thread: Whose clamps are shown.
    """
    states = [] if policies(tree) else [KnobState("cpufreq", False, None, "there is no cpufreq")]
    return states + [_state(knob) for knob in _all(tree, scheduler, thread)]


def _all(tree: KernelTree, scheduler: Scheduler, thread: ThreadRef) -> Iterator[Knob | HeldKnob]:
    for policy in policies(tree):
        yield Governor(tree, policy.number)
        yield FrequencyLimit(tree, policy.number, "min")
        yield FrequencyLimit(tree, policy.number, "max")
    yield from turbo_knobs(tree)
    yield ThreadClamp(tree, scheduler, thread)
    yield WakeLatency(tree)
    yield PerfLock(tree)


def _state(knob: Knob | HeldKnob) -> KnobState:
    there = knob.available()
    if not there.present:
        return KnobState(_name(knob), False, None, there.reason)
    try:
        return KnobState(_name(knob), True, knob.read())
    except CpuError as error:
        return KnobState(_name(knob), True, None, str(error))


def _name(knob: Knob | HeldKnob) -> str:
    """The knob's, but for a thread's: which thread that is, the caller knows."""
    return "clamp" if isinstance(knob, ThreadClamp) else knob.name
