"""Utilisation clamps: how much load a thread shows to the frequency governor, and to the choice of a CPU.

Source: Documentation/scheduler/sched-util-clamp.rst; kernels with CONFIG_UCLAMP_TASK, Android's all have it.
"""

import errno

from unjank._errors import CpuError
from unjank.cpu.change import Applied, Target, apply
from unjank.cpu.errors import AbsentError, ForbiddenError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.refusals import Refusals
from unjank.cpu.scheduler import Clamp, KernelScheduler, Scheduler
from unjank.cpu.threads import ThreadRef

TOP = 1024
"""The full capacity of the fastest CPU."""


class ClampSetting:
    """A thread's two bounds."""

    def __init__(self, scheduler: Scheduler, tree: KernelTree) -> None:
        self._scheduler = scheduler
        self._refusals = Refusals(tree, scheduler)

    def read(self, tid: int) -> Clamp:
        """The bounds."""
        return self._scheduler.clamp(tid)

    def write(self, tid: int, value: Clamp) -> None:
        """Sets the bounds."""
        self._scheduler.set_clamp(tid, value)

    def show(self, value: Clamp) -> str:
        """In words."""
        return f"{value.low} to {value.high} of {TOP}"

    def explain(self, error: OSError, thread: ThreadRef, wanted: Clamp | None) -> CpuError:
        """Which rule forbade it."""
        if error.errno in (errno.EOPNOTSUPP, errno.E2BIG):
            return AbsentError(
                "this kernel has no utilisation clamps; boot Linux 5.3 or newer with CONFIG_UCLAMP_TASK"
            )
        if wanted is None:
            return CpuError(f"the clamps of {thread} cannot be read: {error.strerror}")
        if error.errno == errno.EPERM:
            what = f"clamping {thread} to {self.show(wanted)} is not permitted"
            return ForbiddenError(self._refusals.not_permitted(thread, what))
        return CpuError(f"{thread} cannot be clamped to {self.show(wanted)}: {error.strerror}")

    def explain_difference(self, thread: ThreadRef, wanted: Clamp, found: Clamp) -> CpuError:
        """Something else decides."""
        return CpuError(
            f"{thread} is clamped to {self.show(found)} right after {self.show(wanted)} was set; "
            "another program sets it too; find that one"
        )


def clamp(
    target: Target = None,
    *,
    low: int | None = None,
    high: int | None = None,
    tree: KernelTree | None = None,
    scheduler: Scheduler | None = None,
) -> Applied[Clamp]:
    """Sets the bounds of what load threads show, at once, and reads them back.

    Args:
        target: A native id, a Python thread, several of them, or None: the caller.
        low: 0 to 1024: at least so fast a CPU and frequency; None leaves it.
        high: 0 to 1024: at most so fast; None leaves it.
        tree: The kernel's files.
        scheduler: The kernel's calls.

    Raises:
        AbsentError: The kernel has no utilisation clamps.
        ForbiddenError: The kernel refused.
        CpuError: Bounds that contradict each other, or nothing to set.
    """
    if low is None and high is None:
        raise CpuError("nothing to clamp; give low, high, or both")

    def wanted(before: Clamp, _: ThreadRef) -> Clamp:
        value = Clamp(before.low if low is None else low, before.high if high is None else high)
        if not 0 <= value.low <= value.high <= TOP:
            raise CpuError(f"clamps are 0 ≤ low ≤ high ≤ {TOP}, not {value.low} and {value.high}")
        return value

    tree = tree or KernelTree()
    return apply(ClampSetting(scheduler or KernelScheduler(), tree), target, wanted, tree)
