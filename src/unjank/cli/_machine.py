"""What this machine allows unjank to do: one check per subject, over an injectable `/proc` and `/sys`."""

import os
import platform
import resource
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unjank._errors import EngineError
from unjank.cpu import KernelTree, format_cpu_list, read_limits
from unjank.record.sched import Level, SchedLevels
from unjank.record.sched.levels import has_capability

Status = Literal["ok", "limited", "missing"]


@dataclass(frozen=True)
class Check:
    """One subject and what was found.

    Attributes:
        name: The subject.
        status: `ok`: all there; `limited`: works, but not fully; `missing`: does not work.
        finding: What was found, in one line.
        remedy: What would allow more; empty where nothing is needed.
    """

    name: str
    status: Status
    finding: str
    remedy: str = ""


def all_checks(levels: SchedLevels, root: Path = Path("/")) -> list[Check]:
    """Looks at everything, in the order a user cares about it.

    Args:
        levels: What `unjank.record.sched.probe` found.
        root: Prefix of `/proc` and `/sys`, for tests.
    """
    return [
        check_ftrace(levels.ftrace, levels.procfs),
        check_procfs(levels.procfs),
        check_engine(),
        check_python(),
        check_kernel(),
        check_cpus(root),
        check_priority(root),
        check_perf(root),
    ]


def check_ftrace(ftrace: Level, procfs: Level) -> Check:
    """Whether a recording sees every switch of every thread."""
    status: Status = "ok" if ftrace.works else "limited" if procfs.works else "missing"
    return Check("scheduling: ftrace", status, ftrace.reason, ftrace.remedy)


def check_procfs(procfs: Level) -> Check:
    """Whether a recording can at least tell how long a lock's owner was kept off the CPU."""
    return Check("scheduling: procfs", "ok" if procfs.works else "missing", procfs.reason, procfs.remedy)


def check_engine() -> Check:
    """Whether traces can be read. Compiles the engine if that has not been done before."""
    from unjank.trace.engine.compiled import compiled_module

    try:
        compiled = compiled_module(32)
    except EngineError as error:
        return Check("trace engine", "missing", str(error))
    if compiled.from_cache:
        return Check("trace engine", "ok", "ready, from the cache")
    if compiled.note:
        return Check(
            "trace engine",
            "limited",
            compiled.note,
            "make that folder yours alone, chmod 700, or name another in XDG_CACHE_HOME",
        )
    return Check("trace engine", "ok", "ready; compiled now, from the cache next time")


def check_python() -> Check:
    """Which Python, and whether its threads run one at a time."""
    free_threaded_build = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    gil = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
    threads = (
        "with the GIL: one thread at a time runs Python" if gil else "free-threaded: threads run at once"
    )
    finding = f"{platform.python_implementation()} {platform.python_version()}, {threads}"
    if free_threaded_build and gil:
        remedy = "keep it off: PYTHON_GIL=0, or find the extension module that turned it on"
        return Check("python", "limited", f"{finding}, although this build can do without", remedy)
    return Check("python", "ok", finding)


def check_kernel() -> Check:
    """Which kernel."""
    return Check("kernel", "ok", f"{platform.system()} {platform.release()} on {platform.machine()}")


def check_cpus(root: Path = Path("/")) -> Check:
    """How much CPU this process may use: its affinity mask, and the quota of its control group."""
    allowed, present = os.sched_getaffinity(0), os.cpu_count() or 1
    finding = f"may run on CPU {format_cpu_list(allowed)} of {present}"
    quota = read_limits(KernelTree(root)).quota
    if quota is not None:
        remedy = "raise the control group's cpu.max; waits for the CPU may come from the quota"
        return Check("cpus", "limited", f"{finding}, for {quota.cpus:.2g} CPUs' worth of time", remedy)
    if len(allowed) < present:
        return Check("cpus", "limited", finding, "widen the affinity mask: taskset -c or cpuset.cpus")
    return Check("cpus", "ok", finding)


def check_priority(root: Path = Path("/")) -> Check:
    """How far threads may be favoured: the lowest nice value that may be set."""
    # setrlimit(2): the ceiling of nice is 20 - RLIMIT_NICE; CAP_SYS_NICE lifts it.
    soft, _ = resource.getrlimit(resource.RLIMIT_NICE)
    lowest = -20 if soft == resource.RLIM_INFINITY else max(-20, 20 - soft)
    if has_capability(root, _CAP_SYS_NICE) or lowest == -20:
        return Check("priority", "ok", "nice values down to -20 may be set")
    if lowest <= 0:
        return Check("priority", "limited", f"nice values down to {lowest} may be set", _NICE_REMEDY)
    return Check("priority", "limited", "nice values can only be raised: threads can be slowed", _NICE_REMEDY)


def check_perf(root: Path = Path("/")) -> Check:
    """Whether the CPU's counters may be read."""
    # Documentation/admin-guide/sysctl/kernel.rst; 3 and 4 are distributions' own: closed.
    text = _read(root / "proc/sys/kernel/perf_event_paranoid")
    if text is None:
        return Check("perf events", "limited", "this kernel has none", "boot one with CONFIG_PERF_EVENTS")
    level = int(text)
    if os.geteuid() == 0 or level <= 1:
        return Check("perf events", "ok", f"open (kernel.perf_event_paranoid = {level})")
    what = "closed" if level > 2 else "open for this user's own code, not the kernel's"
    remedy = "open them: sudo sysctl kernel.perf_event_paranoid=1"
    return Check("perf events", "limited", f"{what} (kernel.perf_event_paranoid = {level})", remedy)


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


_CAP_SYS_NICE = 23  # include/uapi/linux/capability.h
_NICE_REMEDY = "allow lower ones: a line '@GROUP - nice -20' in /etc/security/limits.conf, or record as root"
