"""What each CPU does and may do: frequency, governor, idle states.

Source: Documentation/admin-guide/pm/cpufreq.rst and cpuidle.rst.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unjank.cpu.kernel_tree import KernelTree

_CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class IdleState:
    """One of a CPU's idle states; the later ones sleep deeper and take longer to leave."""

    name: str
    latency_us: int | None
    disabled: bool
    uses: int | None


@dataclass(frozen=True)
class CpuPower:
    """One CPU's frequency and idle states; None where this machine does not tell.

    Attributes:
        khz: Current frequency.
        low_khz: Lowest that the governor may choose now.
        high_khz: Highest that the governor may choose now.
        hardware_low_khz: Lowest there is.
        hardware_high_khz: Highest there is.
        governor: What chooses the frequency.
        governors: What could choose it.
        driver: Who sets it.
        idle: Idle states, shallow first.
    """

    khz: int | None
    low_khz: int | None
    high_khz: int | None
    hardware_low_khz: int | None
    hardware_high_khz: int | None
    governor: str | None
    governors: tuple[str, ...]
    driver: str | None
    idle: tuple[IdleState, ...]


def read_power(cpu: int, tree: KernelTree | None = None) -> CpuPower:
    """Reads one CPU; a CPU without cpufreq, as in most virtual machines, has no limits and no governor."""
    tree = tree or KernelTree()
    folder = f"{_CPUS}/cpu{cpu}/cpufreq"
    return CpuPower(
        khz=read_frequencies([cpu], tree)[cpu],
        low_khz=tree.number(f"{folder}/scaling_min_freq"),
        high_khz=tree.number(f"{folder}/scaling_max_freq"),
        hardware_low_khz=tree.number(f"{folder}/cpuinfo_min_freq"),
        hardware_high_khz=tree.number(f"{folder}/cpuinfo_max_freq"),
        governor=tree.text(f"{folder}/scaling_governor"),
        governors=tuple((tree.text(f"{folder}/scaling_available_governors") or "").split()),
        driver=tree.text(f"{folder}/scaling_driver"),
        idle=_idle_states(tree, f"{_CPUS}/cpu{cpu}/cpuidle"),
    )


def read_frequencies(cpus: Iterable[int], tree: KernelTree | None = None) -> Mapping[int, int | None]:
    """Current frequency of each CPU, kHz; None where it is not known.

    Without cpufreq, what /proc/cpuinfo shows: on x86 the rate of the time-stamp counter at least.
    """
    tree = tree or KernelTree()
    found: dict[int, int | None] = {}
    for cpu in cpus:
        folder = f"{_CPUS}/cpu{cpu}/cpufreq"
        current = tree.number(f"{folder}/scaling_cur_freq")
        found[cpu] = current if current is not None else tree.number(f"{folder}/cpuinfo_cur_freq")
    if None in found.values():
        listed = _cpuinfo_khz(tree)
        found = {cpu: khz if khz is not None else listed.get(cpu) for cpu, khz in found.items()}
    return found


def _cpuinfo_khz(tree: KernelTree) -> dict[int, int]:
    rates: dict[int, int] = {}
    cpu = -1
    for line in (tree.text("proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "processor":
            cpu = int(value)
        elif key.strip() == "cpu MHz":
            rates[cpu] = round(float(value) * 1000)
    return rates


def _idle_states(tree: KernelTree, folder: str) -> tuple[IdleState, ...]:
    names = [name for name in tree.names(folder) if name.startswith("state")]
    return tuple(
        IdleState(
            tree.text(f"{folder}/{name}/name") or name,
            tree.number(f"{folder}/{name}/latency"),
            tree.number(f"{folder}/{name}/disable") == 1,
            tree.number(f"{folder}/{name}/usage"),
        )
        for name in sorted(names, key=lambda name: int(name.removeprefix("state") or 0))
    )
