"""How urgent threads are: nice values, policies, deadlines; Java's and Android's names for them."""

import errno
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from unjank._errors import CpuError
from unjank.cpu.change import Applied, Target, apply
from unjank.cpu.errors import ForbiddenError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.refusals import Refusals, is_deadline, is_realtime
from unjank.cpu.scheduler import (
    RESET_ON_FORK,
    SCHED_BATCH,
    SCHED_DEADLINE,
    SCHED_EXT,
    SCHED_FIFO,
    SCHED_IDLE,
    SCHED_OTHER,
    SCHED_RR,
    WITH_NICE,
    Attributes,
    KernelScheduler,
    Scheduler,
)
from unjank.cpu.threads import ThreadRef

Policy = Literal["other", "batch", "idle", "fifo", "rr", "deadline"]

POLICIES: tuple[tuple[str, int], ...] = (
    ("other", SCHED_OTHER),
    ("batch", SCHED_BATCH),
    ("idle", SCHED_IDLE),
    ("fifo", SCHED_FIFO),
    ("rr", SCHED_RR),
    ("deadline", SCHED_DEADLINE),
    ("ext", SCHED_EXT),
)
"""Policies by name; `ext`, of a BPF scheduler, is only ever shown."""

JAVA_NICE = (19, 16, 13, 10, 0, -2, -4, -5, -6, -8)
"""Nice values of Java's priorities 1 to 10 on Android (art/runtime/thread_android.cc, kNiceValues)."""

ANDROID_NICE: tuple[tuple[str, int], ...] = (
    ("lowest", 19),
    ("background", 10),
    ("less_favorable", 1),
    ("default", 0),
    ("more_favorable", -1),
    ("foreground", -2),
    ("display", -4),
    ("urgent_display", -8),
    ("video", -10),
    ("audio", -16),
    ("urgent_audio", -19),
)
"""Nice values of android.os.Process.THREAD_PRIORITY_…, and the one step of `less` and `more_favorable`."""

_LOWEST, _HIGHEST = -20, 19
_LONGEST_S = 2**63 / 1e9  # the kernel's own bound of a deadline's times, as nanoseconds in 63 bits
_SHORTEST_NS = 1024  # the kernel's own bound of a deadline's runtime, sched_deadline(7)


class PrioritySetting:
    """A thread's policy, nice value, real-time priority and deadline."""

    def __init__(self, scheduler: Scheduler, tree: KernelTree) -> None:
        self._scheduler = scheduler
        self._refusals = Refusals(tree, scheduler)

    def read(self, tid: int) -> Attributes:
        """What is set."""
        return self._scheduler.attributes(tid)

    def write(self, tid: int, value: Attributes) -> None:
        """Sets it."""
        self._scheduler.set_attributes(tid, value)

    def show(self, value: Attributes) -> str:
        """In words."""
        return show_priority(value)

    def explain(self, error: OSError, thread: ThreadRef, wanted: Attributes | None) -> CpuError:
        """Which rule forbade it."""
        if wanted is None:
            return CpuError(f"the priority of {thread} cannot be read: {error.strerror}")
        if error.errno in (errno.EPERM, errno.EACCES):
            return ForbiddenError(self._why_not_permitted(thread, wanted))
        if error.errno == errno.EBUSY and is_deadline(wanted):
            return ForbiddenError(self._refusals.deadline_busy(thread, wanted))
        return CpuError(
            f"{thread} cannot have {show_priority(wanted)}: {error.strerror}; "
            "see the bounds in sched(7), or choose another policy"
        )

    def _why_not_permitted(self, thread: ThreadRef, wanted: Attributes) -> str:
        if is_deadline(wanted):
            return self._refusals.deadline_refused(thread)
        if is_realtime(wanted):
            return self._refusals.realtime_refused(thread, wanted)
        return self._refusals.nice_refused(thread, wanted)

    def explain_difference(self, thread: ThreadRef, wanted: Attributes, found: Attributes) -> CpuError:
        """Something else, another program or a sandbox, decides."""
        return CpuError(
            f"{thread} has {show_priority(found)} instead of {show_priority(wanted)} right after it was set: "
            "another program or the sandbox sets it too; find that one"
        )


def priority(
    target: Target = None,
    *,
    nice: int | None = None,
    policy: Policy | None = None,
    priority: int | None = None,
    runtime: float = 0.0,
    deadline: float = 0.0,
    period: float = 0.0,
    java: int | None = None,
    android: str | None = None,
    reset_on_fork: bool = False,
    follow: Iterable[int] = (),
    tree: KernelTree | None = None,
    scheduler: Scheduler | None = None,
) -> Applied[Attributes]:
    """Sets how urgent threads are, at once, and reads it back.

        cpu.priority(worker, nice=10)                        # stays
        with cpu.priority(policy="fifo", priority=10):       # until the end of the block
            ...

    Without rights (root, RLIMIT_NICE) a nice value that was raised cannot be lowered again: then `restore()`
    raises.

    Args:
        target: A native id, a Python thread, several of them, or None: the caller.
        nice: -20, the most urgent, to 19; for the policies other and batch.
        policy: The kept one, or `other` where a nice value is given to a real-time thread.
        priority: 1 to 99, for fifo and rr.
        runtime: For the policy deadline: seconds of CPU that are reserved …
        deadline: … within this time from the start of each period …
        period: … of this length; the deadline's by default.
        java: Java's thread priority, 1 to 10, as Android maps it; instead of `nice`.
        android: Android's name, such as `urgent_display`; instead of `nice`.
        reset_on_fork: Threads and processes it starts begin with the policy other, nice 0 at the lowest.
        follow: Processes; their threads that start meanwhile are changed too.
        tree: The kernel's files.
        scheduler: The kernel's calls.

    Raises:
        ForbiddenError: The kernel refused; the message names the rule and how to allow it.
        ThreadGoneError: There is no such thread.
        CpuError: Values contradict each other or are out of bounds.
    """
    value = _one_nice(nice, java, android)
    chosen = _checked(value, policy, priority, (runtime, deadline, period), reset_on_fork=reset_on_fork)
    tree = tree or KernelTree()

    def wanted(before: Attributes, _: ThreadRef) -> Attributes:
        return _merged(before, chosen, keep_policy=policy is None, keep_nice=value is None)

    return apply(PrioritySetting(scheduler or KernelScheduler(), tree), target, wanted, tree, follow)


def nice_of(text: str) -> int:
    """A nice value as it is written on the command line: `-5`, `java:8`, `android:urgent_display`.

    Raises:
        CpuError: It is none of these.
    """
    kind, _, name = text.partition(":")
    if kind == "java" and name.isdecimal():
        return _java_nice(int(name))
    if kind == "android":
        return _android_nice(name)
    try:
        return int(text)
    except ValueError:
        raise CpuError(
            f"{text!r} is not a priority; write -20 to 19, java:1 to java:10, or android:NAME"
        ) from None


def show_priority(value: Attributes) -> str:
    """Policy and number in words: `nice 10`, `fifo 10`, `deadline 2 ms of 10 ms`."""
    name = policy_name(value.policy)
    if is_realtime(value):
        return f"{name} {value.priority}"
    if is_deadline(value):
        period = value.period_ns or value.deadline_ns
        return f"deadline {value.runtime_ns / 1e6:g} ms of {period / 1e6:g} ms"
    if value.policy == SCHED_OTHER:
        return f"nice {value.nice}"
    return f"{name}, nice {value.nice}"


def policy_name(number: int) -> str:
    """A policy's name."""
    return next((name for name, known in POLICIES if known == number), f"policy {number}")


def _one_nice(nice: int | None, java: int | None, android: str | None) -> int | None:
    given = [value for value in (nice, java, android) if value is not None]
    if len(given) > 1:
        raise CpuError("give one of nice, java and android: they are names for the same thing")
    if java is not None:
        return _java_nice(java)
    return _android_nice(android) if android is not None else nice


def _java_nice(number: int) -> int:
    if not 1 <= number <= len(JAVA_NICE):
        raise CpuError(f"Java's thread priorities are 1 to {len(JAVA_NICE)}, not {number}")
    return JAVA_NICE[number - 1]


def _android_nice(name: str) -> int:
    short = name.lower().removeprefix("thread_priority_")
    for known, value in ANDROID_NICE:
        if known == short:
            return value
    names = ", ".join(known for known, _ in ANDROID_NICE)
    raise CpuError(f"Android has no thread priority {name!r}; it has {names}")


def _checked(
    nice: int | None,
    policy: Policy | None,
    priority: int | None,
    times: tuple[float, float, float],
    *,
    reset_on_fork: bool,
) -> Attributes:
    names = {name: number for name, number in POLICIES if name != "ext"}
    if policy is not None and policy not in names:
        raise CpuError(f"there is no policy {policy!r}; use one of other, batch, idle, fifo, rr, deadline")
    if nice is None and policy is None:
        raise CpuError("nothing to set; give nice, policy, java or android")
    if nice is not None and not _LOWEST <= nice <= _HIGHEST:
        raise CpuError(f"nice values are {_LOWEST} to {_HIGHEST}, not {nice}")
    realtime = policy in ("fifo", "rr")
    if realtime != (priority is not None):
        raise CpuError("priority, 1 to 99, belongs to the policies fifo and rr; the others have nice values")
    if priority is not None and not 1 <= priority <= 99:
        raise CpuError(f"real-time priorities are 1 to 99, not {priority}")
    if nice is not None and (realtime or policy == "deadline"):
        raise CpuError(f"policy {policy} knows no nice value; leave it out")
    return replace(
        _deadline(policy, times),
        policy=names[policy or "other"],
        nice=nice or 0,
        priority=priority or 0,
        flags=RESET_ON_FORK if reset_on_fork else 0,
    )


def _deadline(policy: str | None, times: tuple[float, float, float]) -> Attributes:
    if not all(0 <= seconds <= _LONGEST_S for seconds in times):
        raise CpuError("runtime, deadline and period are seconds, 0 and above")
    runtime, deadline, period = (round(seconds * 1e9) for seconds in times)
    if policy != "deadline":
        if any(times):
            raise CpuError("runtime, deadline and period belong to the policy deadline")
        return Attributes()
    deadline = deadline or period
    period = period or deadline
    if not _SHORTEST_NS <= runtime <= deadline <= period:
        raise CpuError("policy deadline takes 1.024 µs ≤ runtime ≤ deadline ≤ period, in seconds")
    return Attributes(runtime_ns=runtime, deadline_ns=deadline, period_ns=period)


def _merged(before: Attributes, chosen: Attributes, *, keep_policy: bool, keep_nice: bool) -> Attributes:
    """What to set on a thread that had `before`: a nice value alone keeps a policy that has such values."""
    has_nice = before.policy in WITH_NICE
    policy = before.policy if keep_policy and has_nice else chosen.policy
    keeps = keep_nice and has_nice and policy in WITH_NICE
    nice = before.nice if keeps else chosen.nice
    flags = chosen.flags | before.flags
    return replace(chosen, policy=policy, nice=nice, flags=flags)
