"""Where threads may run: `set_affinity`, and `pinned` for the length of a block."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from unjank._errors import CpuError
from unjank.cpu.change import Applied, Target, apply
from unjank.cpu.cpulist import format_cpu_list
from unjank.cpu.errors import ForbiddenError, ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.refusals import Refusals
from unjank.cpu.scheduler import KernelScheduler, Scheduler
from unjank.cpu.sets import CpuSet, resolve_cpus
from unjank.cpu.threads import ThreadRef, native_id, read_stat
from unjank.cpu.topology import read_topology


class AffinitySetting:
    """A thread's affinity mask."""

    def __init__(self, scheduler: Scheduler, tree: KernelTree) -> None:
        self._scheduler = scheduler
        self._refusals = Refusals(tree, scheduler)

    def read(self, tid: int) -> frozenset[int]:
        """The mask."""
        return self._scheduler.affinity(tid)

    def write(self, tid: int, value: frozenset[int]) -> None:
        """Sets the mask."""
        self._scheduler.set_affinity(tid, value)

    def show(self, value: frozenset[int]) -> str:
        """The mask as a list."""
        return format_cpu_list(value)

    def explain(self, error: OSError, thread: ThreadRef, wanted: frozenset[int] | None) -> CpuError:
        """Which rule forbade it."""
        if wanted is None:
            return CpuError(f"the affinity of {thread} cannot be read: {error.strerror}")
        listed = format_cpu_list(wanted)
        if error.errno == errno.EINVAL:
            return ForbiddenError(self._refusals.affinity_invalid(thread, wanted))
        if error.errno == errno.EPERM:
            return ForbiddenError(
                self._refusals.not_permitted(thread, f"binding {thread} to CPU {listed} is not permitted")
            )
        if error.errno == errno.EBUSY:  # the bandwidth it was admitted with is that of all its CPUs
            return ForbiddenError(
                f"{thread} has policy deadline, which must not be bound; change its policy first"
            )
        return CpuError(f"{thread} cannot be bound to CPU {listed}: {error.strerror}")

    def explain_difference(
        self, thread: ThreadRef, wanted: frozenset[int], found: frozenset[int]
    ) -> CpuError:
        """The kernel takes a mask that it can grant in part, and drops the rest in silence."""
        reason = self._refusals.left_out(thread, wanted - found)
        return ForbiddenError(
            f"{thread} can have CPU {format_cpu_list(found)} of {format_cpu_list(wanted)} only: "
            f"{reason or 'another limit is in force; compare `unjank cpu show`'}"
        )


def get_affinity(target: int | None = None, *, scheduler: Scheduler | None = None) -> frozenset[int]:
    """The CPUs a thread may run on, by native id; None or 0 is the caller.

    Raises:
        ThreadGoneError: There is no such thread.
    """
    tid = native_id(target)
    try:
        return (scheduler or KernelScheduler()).affinity(tid)
    except ProcessLookupError as error:
        raise ThreadGoneError(f"there is no thread {tid}") from error


def set_affinity(
    target: Target,
    cpus: CpuSet,
    *,
    follow: Iterable[int] = (),
    tree: KernelTree | None = None,
    scheduler: Scheduler | None = None,
) -> Applied[frozenset[int]]:
    """Binds threads to CPUs, at once, and reads the masks back.

        cpu.set_affinity(worker, "big")            # stays
        with cpu.set_affinity(tid, {2, 3}):        # until the end of the block
            ...

    Args:
        target: A native id, a Python thread, several of them, or None: the caller.
        cpus: Numbers, or words such as `2-3`, `big`, `one per cluster`, `same L3` (`resolve_cpus`).
        follow: Processes; their threads that start meanwhile are bound too.
        tree: The kernel's files.
        scheduler: The kernel's calls.

    Returns:
        What was changed; `restore()` puts it back.

    Raises:
        ForbiddenError: The kernel refused, or would grant a part only; the message names the rule.
        ThreadGoneError: There is no such thread.
        CpuError: The set is empty or not understood.
    """
    tree = tree or KernelTree()
    scheduler = scheduler or KernelScheduler()
    topology = read_topology(tree, lambda: scheduler.affinity(0))

    def wanted(_: frozenset[int], thread: ThreadRef) -> frozenset[int]:
        return resolve_cpus(cpus, topology, near=read_stat(thread.pid, thread.tid, tree).last_cpu)

    if isinstance(cpus, Iterable) and not isinstance(cpus, str):
        cpus = frozenset(cpus)  # an iterator is read only once
    return apply(AffinitySetting(scheduler, tree), target, wanted, tree, follow)


@contextmanager
def pinned(
    cpus: CpuSet,
    target: Target = None,
    *,
    tree: KernelTree | None = None,
    scheduler: Scheduler | None = None,
) -> Iterator[Applied[frozenset[int]]]:
    """Binds threads, the caller by default, while the block runs; then gives back the masks they had.

        with cpu.pinned({2, 3}):
            heavy_work()

    Arguments and errors are those of `set_affinity`.
    """
    with set_affinity(target, cpus, tree=tree, scheduler=scheduler) as applied:
        yield applied
