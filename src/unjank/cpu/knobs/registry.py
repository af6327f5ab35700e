"""Knobs by name. Only these can be named: what is read from a journal leads to no other file."""

import re

from unjank._errors import CpuError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.clamps import ThreadClamp
from unjank.cpu.knobs.cpufreq import FrequencyLimit, Governor
from unjank.cpu.knobs.knob import Knob
from unjank.cpu.knobs.turbo import Boost, NoTurbo
from unjank.cpu.scheduler import Scheduler
from unjank.cpu.threads import ThreadRef

_POLICY = re.compile(r"cpufreq/policy(\d+)/(scaling_governor|scaling_min_freq|scaling_max_freq|boost)")
_CLAMP = re.compile(r"clamp/(\d+)/(\d+)/(\d+)")


def find_knob(name: str, tree: KernelTree, scheduler: Scheduler) -> Knob:
    """The knob of that name.

    Raises:
        CpuError: There is no such knob.
    """
    if name == "intel_pstate/no_turbo":
        return NoTurbo(tree)
    if name == "cpufreq/boost":
        return Boost(tree, name)
    if match := _POLICY.fullmatch(name):
        return _of_policy(int(match[1]), match[2], tree)
    if match := _CLAMP.fullmatch(name):
        pid, tid, start = map(int, match.groups())
        return ThreadClamp(tree, scheduler, ThreadRef(pid, tid, "", start))
    raise CpuError(f"there is no knob {name!r}")


def _of_policy(number: int, file: str, tree: KernelTree) -> Knob:
    if file == "scaling_governor":
        return Governor(tree, number)
    if file == "boost":
        return Boost(tree, f"cpufreq/policy{number}/boost")
    return FrequencyLimit(tree, number, "min" if file == "scaling_min_freq" else "max")
