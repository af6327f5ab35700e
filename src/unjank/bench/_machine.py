"""Facts about the machine and the interpreter, stored with every result, and what makes results doubtful."""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from unjank.bench._watch import watch_warnings
from unjank.cpu import KernelTree, read_limits, read_topology
from unjank.cpu.topology import Level

_SLOW_CLOCKS = frozenset({"hpet", "acpi_pm", "jiffies"})  # read through a system call
_BUSY_SHARE = 0.25  # of the CPUs: more load than this before the start, and others take part in the result


def machine_facts(packages: tuple[str, ...] = ("unjank",), root: Path = Path("/")) -> dict[str, Any]:
    """CPU, memory, kernel, load, Python and the packages that matter.

    Args:
        packages: Distributions whose versions are noted; None for those not installed.
        root: Prefix of `/proc` and `/sys`, for tests.
    """
    return {
        "cpu": _cpu_model(root),
        "cpus": len(os.sched_getaffinity(0)),
        "quota_cpus": _quota(root),
        "topology": _topology(root),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "load_1min": os.getloadavg()[0],
        "governor": _text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clocksource": _text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "virtual": " hypervisor" in (_text(root / "proc/cpuinfo") or ""),
        "python": platform.python_version(),
        "gil": bool(getattr(sys, "_is_gil_enabled", lambda: True)()),
        "packages": {name: _version(name) for name in packages},
    }


def machine_warnings(facts: Mapping[str, Any]) -> list[str]:
    """What about the machine makes its figures doubtful, each with the way to mend it.

    Args:
        facts: What `machine_facts()` said; with `during`, what a `Watch` saw from then on.
    """
    return [*_doubts(facts), *watch_warnings(facts.get("during", {}))]


def _doubts(facts: Mapping[str, Any]) -> Iterator[str]:
    load, cpus = facts["load_1min"], facts["cpus"]
    if load > _BUSY_SHARE * cpus:
        yield (
            f"load {load:.1f} on {_count(cpus)} before the start: others compete for them; "
            "stop them, and trust ratios more than times"
        )
    if (quota := facts.get("quota_cpus")) is not None and quota < cpus:
        yield (
            f"a control group allows {quota:g} CPUs' time on {_count(cpus)}: threads are held back in "
            "between; lift its quota"
        )
    if cpus == 1:
        yield "one CPU: threads never run at once; allow more for figures about contention"
    if facts["governor"] not in (None, "performance"):
        yield (
            f"frequency governor '{facts['governor']}': clocks change while measuring; "
            "set 'performance' with cpupower"
        )
    if facts["clocksource"] in _SLOW_CLOCKS:
        yield (
            f"clock source '{facts['clocksource']}': reading the clock, which every post does, is slow; "
            "choose a faster one in /sys/devices/system/clocksource/clocksource0 if there is one"
        )
    if facts["virtual"]:
        yield "virtual machine: the host may take the CPU away unseen; repeat on bare metal for times"


def _count(cpus: int) -> str:
    return "1 CPU" if cpus == 1 else f"{cpus} CPUs"


def _topology(root: Path) -> dict[str, int] | None:
    """How many of each there are online; None where the kernel does not tell."""
    topology = read_topology(KernelTree(root))
    if not topology.described:
        return None
    levels: tuple[Level, ...] = ("core", "cluster", "node", "package")
    return {f"{level}s": len(topology.groups(level)) for level in levels}


def _quota(root: Path) -> float | None:
    """CPUs' worth of time that the control groups allow; None without a limit."""
    quota = read_limits(KernelTree(root)).quota
    return None if quota is None else quota.cpus


def _cpu_model(root: Path) -> str:
    for line in (_text(root / "proc/cpuinfo") or "").splitlines():
        if line.lower().startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
