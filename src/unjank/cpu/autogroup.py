"""Why a nice value may change nothing: with autogroups it counts within a session only (sched(7))."""

from collections.abc import Iterable

from unjank.cpu.cgroup import read_limits
from unjank.cpu.kernel_tree import KernelTree


def autogrouped(pids: Iterable[int], tree: KernelTree | None = None) -> tuple[int, ...]:
    """Processes whose nice values count only against threads of their own session.

    Such a process is in an autogroup, and in the root control group: elsewhere that group's weight decides.

    Args:
        pids: The processes.
        tree: The kernel's files.
    """
    tree = tree or KernelTree()
    if tree.number("proc/sys/kernel/sched_autogroup_enabled") != 1:
        return ()
    return tuple(
        pid for pid in pids if tree.text(f"proc/{pid}/autogroup") and read_limits(tree, pid).group == "/"
    )
