"""Turbo: frequencies above the guaranteed one. Drivers have files of their own, one the other way round."""

import re

from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.knob import FileKnob

_CPUS = "sys/devices/system/cpu"


class Boost(FileKnob):
    """AMD's and others' boost, 1 on: one file for all CPUs, or with amd-pstate one per policy."""


class NoTurbo(FileKnob):
    """intel_pstate's `no_turbo`; read and written as if it were `turbo`, so 1 means on as elsewhere."""

    def __init__(self, tree: KernelTree) -> None:
        super().__init__(tree, "intel_pstate/no_turbo")

    def read(self) -> str:
        """1 if turbo is on."""
        return "0" if super().read() == "1" else "1"

    def write(self, value: str) -> None:
        """1 turns turbo on. intel_pstate in passive mode, and locked firmware, refuse."""
        super().write("0" if value == "1" else "1")


def turbo_knobs(tree: KernelTree) -> list[FileKnob]:
    """The turbo knobs this machine has; the common one stands for absence where there is none."""
    everywhere: list[FileKnob] = [NoTurbo(tree), Boost(tree, "cpufreq/boost")]
    found = [knob for knob in everywhere if knob.available().present]
    if found:
        return found
    per_policy = [
        Boost(tree, f"cpufreq/{name}/boost")
        for name in tree.names(f"{_CPUS}/cpufreq")
        if re.fullmatch(r"policy\d+", name)
    ]
    return [knob for knob in per_policy if knob.available().present] or [everywhere[1]]
