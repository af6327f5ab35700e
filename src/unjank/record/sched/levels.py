"""How closely this machine lets us watch the scheduler: judged, explained, chosen.

`ftrace` sees every switch and wake-up of every thread on the machine. `procfs` sees, for each contended
lock, how long its owner ran and how long it was kept off the CPU meanwhile. `off` sees neither.
"""

import contextlib
import os
import shutil
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from unjank._errors import SchedulingUnavailableError
from unjank.record.sched.tracefs import CLOCK, MOUNT_POINT, find_tracefs, mount_tracefs

LevelName = Literal["ftrace", "procfs", "off"]
Request = Literal["auto", "ftrace", "procfs", "off"]

_SWITCH_FORMAT = "events/sched/sched_switch/format"


@dataclass(frozen=True)
class Level:
    """Whether one level works here.

    Attributes:
        name: The level.
        works: Whether a recording would have it.
        reason: Why, or why not, in one line.
        remedy: What would make it work; empty where it does, or nothing can.
    """

    name: LevelName
    works: bool
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class SchedLevels:
    """What was found out about each level."""

    ftrace: Level
    procfs: Level

    @property
    def best(self) -> LevelName:
        """The closest level that works."""
        return next((level.name for level in (self.ftrace, self.procfs) if level.works), "off")


@dataclass(frozen=True)
class ChosenLevel:
    """The level a recording uses, and why that one: both are written into the trace."""

    level: LevelName
    reason: str


def probe(root: Path = Path("/")) -> SchedLevels:
    """Finds out what works here. Only looks; changes nothing.

    Args:
        root: Prefix of `/proc` and `/sys`, for tests.
    """
    return SchedLevels(ftrace=_probe_ftrace(root), procfs=_probe_procfs(root))


def choose(requested: str, root: Path = Path("/")) -> ChosenLevel:
    """Chooses the level for a recording; mounts tracefs where that is all that is missing.

    Args:
        requested: `auto` takes the closest that works, and says why not a closer one; the others are taken at
            their word.
        root: Prefix of `/proc` and `/sys`, for tests.

    Raises:
        SchedulingUnavailableError: The level asked for does not work here; names the cause and the way out.
    """
    if requested not in get_args(Request):
        raise SchedulingUnavailableError(
            f"no scheduling level {requested!r}; use one of {', '.join(get_args(Request))}"
        )
    if requested == "off":
        return ChosenLevel("off", "asked for")
    if requested in ("auto", "ftrace"):
        _mount_if_missing(root)
    levels = probe(root)
    return _choose_closest(levels) if requested == "auto" else _choose_named(levels, requested)


def _choose_closest(levels: SchedLevels) -> ChosenLevel:
    closer = [f"{level.name}: {level.reason}" for level in (levels.ftrace, levels.procfs) if not level.works]
    best = levels.best
    if best == "ftrace":
        return ChosenLevel("ftrace", levels.ftrace.reason)
    return ChosenLevel(best, "not " + "; not ".join(closer))


def _choose_named(levels: SchedLevels, requested: str) -> ChosenLevel:
    level = levels.ftrace if requested == "ftrace" else levels.procfs
    if level.works:
        return ChosenLevel(level.name, "asked for")
    way_out = f"; {level.remedy}" if level.remedy else ""
    raise SchedulingUnavailableError(f"--sched {level.name} does not work here: {level.reason}{way_out}")


def _mount_if_missing(root: Path) -> None:
    mountable = root == Path("/") and Path(MOUNT_POINT).is_dir() and find_tracefs() is None
    if mountable:
        with contextlib.suppress(OSError):  # the probe that follows says what is missing
            mount_tracefs()


def _probe_ftrace(root: Path) -> Level:
    mount = find_tracefs(root)
    if mount is None:
        return _probe_unmounted(root)
    if mount.read_only:
        return _unusable(
            f"tracefs at {mount.path} is mounted read-only",
            f"remount it: sudo mount -o remount,rw {mount.path} (in a container: record on the host)",
        )
    instances = mount.path / "instances"
    if not os.access(mount.path, os.X_OK, effective_ids=True) or not os.access(
        instances, os.W_OK | os.X_OK, effective_ids=True
    ):
        return _unusable(f"tracefs at {mount.path} is open to root only", _as_root())
    return _probe_kernel(mount.path)


def _probe_unmounted(root: Path) -> Level:
    if not (root / MOUNT_POINT.lstrip("/")).is_dir():
        return _unusable("this kernel has no tracefs", "boot one with CONFIG_FTRACE and CONFIG_EVENT_TRACING")
    if has_capability(root, _CAP_SYS_ADMIN):
        return Level("ftrace", works=True, reason="tracefs is not mounted yet; a recording mounts it")
    return _unusable(
        "tracefs is not mounted, and mounting it takes root",
        f"mount it: sudo mount -t tracefs nodev {MOUNT_POINT}; then {_as_root()}",
    )


def _probe_kernel(tracefs: Path) -> Level:
    try:
        clocks = (tracefs / "trace_clock").read_text()
        (tracefs / "events/header_page").read_bytes()
        has_switch = (tracefs / _SWITCH_FORMAT).exists()
    except OSError as error:
        cause = f"tracefs at {tracefs} cannot be read: {error.strerror}"
        return _unusable(cause, "look whether kernel lockdown forbids it: cat /sys/kernel/security/lockdown")
    if CLOCK not in clocks.replace("[", " ").replace("]", " ").split():
        return _unusable(f"the kernel has no trace clock '{CLOCK}'", "boot Linux 4.10 or newer")
    if not has_switch:
        return _unusable("the kernel has no event sched_switch", "boot one with CONFIG_EVENT_TRACING")
    return Level("ftrace", works=True, reason=f"tracefs at {tracefs} can be written")


def _probe_procfs(root: Path) -> Level:
    path = root / f"proc/self/task/{threading.get_native_id()}/schedstat"
    try:
        counts = path.read_text().split()
    except OSError as error:
        cause = f"/proc/PID/task/TID/schedstat cannot be read: {error.strerror}"
        return Level("procfs", works=False, reason=cause, remedy="boot a kernel with CONFIG_SCHED_INFO")
    # A thread that reads this has run, so a kernel that counts at all shows more than zero.
    if len(counts) < 2 or not counts[0].isdecimal() or int(counts[0]) == 0:
        return Level(
            "procfs",
            works=False,
            reason="/proc/PID/task/TID/schedstat shows no run time: this kernel or sandbox does not count it",
            remedy="boot a kernel with CONFIG_SCHED_INFO, or record outside of the sandbox",
        )
    return Level("procfs", works=True, reason="/proc/PID/task/TID/schedstat counts run and wait time")


def _unusable(reason: str, remedy: str) -> Level:
    return Level("ftrace", works=False, reason=reason, remedy=remedy)


def _as_root() -> str:
    command = shutil.which(sys.argv[0]) if Path(sys.argv[0]).name == "unjank" else None
    return f"record as root: sudo {command or 'unjank'} run --sched ftrace …"


_CAP_SYS_ADMIN = 21  # include/uapi/linux/capability.h


def has_capability(root: Path, number: int) -> bool:
    """Whether this process has that capability in effect (capabilities(7)); `root` prefixes `/proc`."""
    try:
        lines = (root / "proc/self/status").read_text().splitlines()
    except OSError:
        return False
    masks = [line.split()[1] for line in lines if line.startswith("CapEff:")]
    return bool(masks) and bool(int(masks[0], 16) >> number & 1)
