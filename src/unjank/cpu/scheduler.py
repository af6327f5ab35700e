"""The kernel's calls about one thread's scheduling, as an object: tests may stand in for the kernel."""

import ctypes
import errno
import os
import platform
import sys
from dataclasses import dataclass
from typing import Literal, Protocol

from unjank.cpu.errors import AbsentError

SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH = 0, 1, 2, 3
SCHED_IDLE, SCHED_DEADLINE, SCHED_EXT = 5, 6, 7
"""Policies: include/uapi/linux/sched.h."""

RESET_ON_FORK = 0x01
UTIL_CLAMP_MIN, UTIL_CLAMP_MAX = 0x20, 0x40
WITH_NICE = (SCHED_OTHER, SCHED_BATCH, SCHED_IDLE)
"""Policies that have nice values."""

_RESET_BIT = 0x40000000  # SCHED_RESET_ON_FORK, as the older calls have it: a bit of the policy
_KEEP_POLICY_AND_PARAMETERS = 0x08 | 0x10


@dataclass(frozen=True)
class Attributes:
    """A thread's scheduling, as `struct sched_attr` has it (sched_setattr(2)); times in ns."""

    policy: int = SCHED_OTHER
    nice: int = 0
    priority: int = 0
    runtime_ns: int = 0
    deadline_ns: int = 0
    period_ns: int = 0
    flags: int = 0


@dataclass(frozen=True)
class Clamp:
    """Bounds of what load a thread shows to the frequency governor, 0 to 1024 (utilisation clamps)."""

    low: int
    high: int


class Scheduler(Protocol):
    """Calls about one thread, each by native id; they raise OSError as the kernel answers."""

    def affinity(self, tid: int) -> frozenset[int]:
        """The CPUs the thread may run on."""

    def set_affinity(self, tid: int, cpus: frozenset[int]) -> None:
        """Sets the CPUs."""

    def attributes(self, tid: int) -> Attributes:
        """Policy and what belongs to it."""

    def set_attributes(self, tid: int, wanted: Attributes) -> None:
        """Sets policy and what belongs to it; the clamps stay."""

    def clamp(self, tid: int) -> Clamp:
        """The utilisation clamps."""

    def set_clamp(self, tid: int, wanted: Clamp) -> None:
        """Sets the clamps; the policy stays."""


class _SchedAttr(ctypes.Structure):
    # struct sched_attr, include/uapi/linux/sched/types.h
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
        ("util_min", ctypes.c_uint32),
        ("util_max", ctypes.c_uint32),
    )


_SIZE_BEFORE_CLAMPS = 48  # SCHED_ATTR_SIZE_VER0; 56 since Linux 5.3

# (sched_setattr, sched_getattr) by machine, from arch/*/kernel/syscalls/*.tbl; arm64, riscv and loongarch
# have those of include/uapi/asm-generic/unistd.h.
_NUMBERS = {
    "x86_64": (314, 315),
    "i386": (351, 352),
    "arm": (380, 381),
    "aarch64": (274, 275),
    "riscv64": (274, 275),
    "loongarch64": (274, 275),
    "ppc64": (355, 356),
    "ppc64le": (355, 356),
    "s390x": (345, 346),
}


def syscall_numbers(machine: str, *, is_64bit: bool) -> tuple[int, int]:
    """Numbers of sched_setattr and sched_getattr, which C libraries have no functions for.

    Args:
        machine: As `uname -m` says; the kernel's, which may be wider than this program.
        is_64bit: Whether this program is.

    Raises:
        AbsentError: They are not known for this machine.
    """
    if not is_64bit:
        machine = "i386" if machine in ("x86_64", "i486", "i586", "i686") else "arm"
    if machine not in _NUMBERS:
        raise AbsentError(f"the system call sched_setattr has no known number on {machine}; please report it")
    return _NUMBERS[machine]


class KernelScheduler:
    """The running kernel.

    The older calls are used wherever they can say it: sandboxes, an Android app's among them, allow what the
    C library has functions for, and may kill a process that makes another call. sched_setattr(2) is for
    deadlines and clamps, which nothing else sets.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def affinity(self, tid: int) -> frozenset[int]:
        """sched_getaffinity(2)."""
        return frozenset(os.sched_getaffinity(tid))

    def set_affinity(self, tid: int, cpus: frozenset[int]) -> None:
        """sched_setaffinity(2)."""
        os.sched_setaffinity(tid, cpus)

    def attributes(self, tid: int) -> Attributes:
        """sched_getscheduler(2) and what belongs to that policy."""
        answer = os.sched_getscheduler(tid)
        policy, flags = answer & ~_RESET_BIT, RESET_ON_FORK if answer & _RESET_BIT else 0
        if policy == SCHED_DEADLINE:
            raw = self._read(tid)
            return Attributes(policy, 0, 0, raw.runtime, raw.deadline, raw.period, flags)
        if policy in WITH_NICE:
            return Attributes(policy, os.getpriority(os.PRIO_PROCESS, tid), flags=flags)
        return Attributes(policy, priority=os.sched_getparam(tid).sched_priority, flags=flags)

    def set_attributes(self, tid: int, wanted: Attributes) -> None:
        """setpriority(2) for nice values, sched_setscheduler(2) for policies, sched_setattr(2) else."""
        if wanted.policy == SCHED_DEADLINE:
            self._set_deadline(tid, wanted)
            return
        policy = wanted.policy | (_RESET_BIT if wanted.flags & RESET_ON_FORK else 0)
        if os.sched_getscheduler(tid) != policy:
            os.sched_setscheduler(tid, policy, os.sched_param(wanted.priority))
        elif wanted.policy not in WITH_NICE:
            os.sched_setparam(tid, os.sched_param(wanted.priority))
        if wanted.policy in WITH_NICE and os.getpriority(os.PRIO_PROCESS, tid) != wanted.nice:
            os.setpriority(os.PRIO_PROCESS, tid, wanted.nice)

    def clamp(self, tid: int) -> Clamp:
        """sched_getattr(2). A kernel without clamps leaves the upper one at 0, which none with them would."""
        raw = self._read(tid)
        if raw.util_max == 0:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return Clamp(raw.util_min, raw.util_max)

    def set_clamp(self, tid: int, wanted: Clamp) -> None:
        """sched_setattr(2) with SCHED_FLAG_KEEP_ALL."""
        raw = _SchedAttr(
            size=ctypes.sizeof(_SchedAttr),
            flags=_KEEP_POLICY_AND_PARAMETERS | UTIL_CLAMP_MIN | UTIL_CLAMP_MAX,
            util_min=wanted.low,
            util_max=wanted.high,
        )
        self._call("set", tid, ctypes.byref(raw), 0)

    def _set_deadline(self, tid: int, wanted: Attributes) -> None:
        raw = _SchedAttr(
            size=_SIZE_BEFORE_CLAMPS,
            policy=SCHED_DEADLINE,
            flags=wanted.flags,
            runtime=wanted.runtime_ns,
            deadline=wanted.deadline_ns,
            period=wanted.period_ns,
        )
        self._call("set", tid, ctypes.byref(raw), 0)

    def _read(self, tid: int) -> _SchedAttr:
        raw = _SchedAttr()
        self._call("get", tid, ctypes.byref(raw), ctypes.sizeof(raw), 0)
        return raw

    def _call(self, which: Literal["set", "get"], tid: int, *arguments: object) -> None:
        numbers = syscall_numbers(platform.machine(), is_64bit=sys.maxsize > 1 << 32)
        number = numbers[0] if which == "set" else numbers[1]
        words = [ctypes.c_long(a) if isinstance(a, int) else a for a in (number, tid, *arguments)]
        if self._libc.syscall(*words) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
