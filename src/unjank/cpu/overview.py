"""All about a machine's CPUs as one record: topology, frequencies, limits."""

from dataclasses import asdict, dataclass
from typing import Any

from unjank.cpu.cgroup import CpuLimits, read_limits
from unjank.cpu.cpulist import format_cpu_list
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.power import CpuPower, read_power
from unjank.cpu.topology import LEVELS, Topology, read_topology


@dataclass(frozen=True)
class Overview:
    """The machine as this process sees it."""

    topology: Topology
    power: dict[int, CpuPower]
    limits: CpuLimits


def read_overview(tree: KernelTree | None = None, topology: Topology | None = None) -> Overview:
    """Reads everything.

    Args:
        tree: The kernel's files.
        topology: Read before; otherwise read now.
    """
    tree = tree or KernelTree()
    topology = topology or read_topology(tree)
    power = {cpu.number: read_power(cpu.number, tree) for cpu in topology.cpus}
    return Overview(topology, power, read_limits(tree))


def document(overview: Overview) -> dict[str, Any]:
    """The record as plain values, CPUs as lists such as `0-3`."""
    topology = overview.topology
    groups = {level: [format_cpu_list(group) for group in topology.groups(level)] for level in LEVELS}
    cpus = [{**plain(asdict(cpu)), **plain(asdict(overview.power[cpu.number]))} for cpu in topology.cpus]
    return {
        "allowed": format_cpu_list(topology.allowed),
        "online": format_cpu_list(topology.online),
        "described": topology.described,
        "kinds": {name: format_cpu_list(cpus) for name, cpus in topology.classes.items()},
        "groups": groups if topology.described else {},
        "limits": plain(asdict(overview.limits)),
        "cpus": cpus,
    }


def plain(value: Any) -> Any:  # noqa: ANN401  whatever a record holds
    """A value with sets of CPUs as lists in text, and tuples as lists."""
    if isinstance(value, frozenset):
        return format_cpu_list(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
