"""Which CPUs a benchmark may use, and which of them are near each other."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unjank import UnjankError
from unjank.cpu import format_cpu_list, read_topology

if TYPE_CHECKING:
    from unjank.cpu import Topology


def usable_cpus(topology: "Topology | None" = None) -> list[int]:
    """The CPUs that are online and that this process may use, ascending."""
    topology = topology or read_topology()
    return sorted(topology.allowed & topology.online)


def require_usable(cpus: Iterable[int], topology: "Topology | None" = None) -> None:
    """Whether threads can be bound to all of them.

    Raises:
        UnjankError: One of them cannot be used; the message says which rule forbids it.
    """
    topology = topology or read_topology()
    for cpu in cpus:
        if cpu not in topology.by_number:
            there = format_cpu_list(topology.by_number)
            raise UnjankError(f"there is no CPU {cpu}; this machine has {there}")
        if cpu not in topology.online:
            raise UnjankError(
                f"CPU {cpu} is offline; choose of {format_cpu_list(usable_cpus(topology))}, or write 1 to "
                f"/sys/devices/system/cpu/cpu{cpu}/online"
            )
        if cpu not in topology.allowed:
            raise UnjankError(
                f"this process may not use CPU {cpu}: its affinity mask or its cgroup's cpuset leaves it "
                f"{format_cpu_list(topology.allowed)}; choose of these, or start it with taskset"
            )
