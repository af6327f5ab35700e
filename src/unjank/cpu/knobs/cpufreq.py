"""Governor and frequency limits, one set per cpufreq policy (Documentation/admin-guide/pm/cpufreq.rst)."""

import re
from dataclasses import dataclass
from typing import Literal

from unjank._errors import CpuError
from unjank.cpu.errors import AbsentError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.knob import FileKnob

_POLICIES = "sys/devices/system/cpu/cpufreq"
_UNITS = {"ghz": 1_000_000, "mhz": 1_000, "khz": 1}


@dataclass(frozen=True)
class Policy:
    """CPUs that change frequency together."""

    number: int
    cpus: frozenset[int]


def policies(tree: KernelTree) -> list[Policy]:
    """All policies, by number; none where there is no cpufreq."""
    found = []
    for name in tree.names(_POLICIES):
        if (match := re.fullmatch(r"policy(\d+)", name)) is None:
            continue
        words = (tree.text(f"{_POLICIES}/{name}/affected_cpus") or "").split()  # without those offline
        cpus = frozenset(int(word) for word in words if word.isdecimal())
        if cpus:
            found.append(Policy(int(match[1]), cpus))
    return sorted(found, key=lambda policy: policy.number)


class Governor(FileKnob):
    """What chooses the frequency of a policy's CPUs."""

    def __init__(self, tree: KernelTree, policy: int) -> None:
        super().__init__(tree, f"cpufreq/policy{policy}/scaling_governor")
        self._choices = f"{_POLICIES}/policy{policy}/scaling_available_governors"

    def write(self, value: str) -> None:
        """Sets the governor.

        Raises:
            AbsentError: The kernel has no such governor.
            ForbiddenError: The kernel refuses.
        """
        choices = (self._tree.text(self._choices) or "").split()
        if choices and value not in choices:
            raise AbsentError(
                f"/{self._path} does not know {value!r}; its kernel has {', '.join(choices)}: choose one"
            )
        super().write(value)


class FrequencyLimit(FileKnob):
    """The lowest or the highest frequency the governor may choose for a policy's CPUs, in kHz."""

    def __init__(self, tree: KernelTree, policy: int, side: Literal["min", "max"]) -> None:
        super().__init__(tree, f"cpufreq/policy{policy}/scaling_{side}_freq")
        self._hardware = f"{_POLICIES}/policy{policy}/cpuinfo_"

    def value_of(self, wanted: str) -> str:
        """The figure for `min`, `max`, `1800MHz` and the like, in kHz; kept within the hardware's limits.

        Raises:
            CpuError: It is no frequency, or the hardware's limits are not known.
        """
        low, high = (self._tree.number(f"{self._hardware}{side}_freq") for side in ("min", "max"))
        if wanted in ("min", "max"):
            limit = low if wanted == "min" else high
            if limit is None:
                raise AbsentError(f"/{self._hardware}{wanted}_freq is missing; give a frequency in MHz")
            return str(limit)
        khz = _parse_khz(wanted)
        return str(max(low if low is not None else khz, min(khz, high if high is not None else khz)))


def check_frequency(wanted: str) -> None:
    """Whether it is written as `FrequencyLimit.value_of` takes it.

    Raises:
        CpuError: It is not.
    """
    if wanted not in ("min", "max"):
        _parse_khz(wanted)


def _parse_khz(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ghz|mhz|khz)?", text.strip().lower())
    if match is None:
        raise CpuError(f"{text!r} is not a frequency; write min, max, 1800MHz, or kHz without a unit")
    return round(float(match[1]) * _UNITS[match[2] or "khz"])
