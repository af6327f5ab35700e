"""Which CPUs there are and what they share: packages, clusters, caches, SMT, capacity, NUMA.

Source of the file formats: Documentation/admin-guide/cputopology.rst and
Documentation/ABI/testing/sysfs-devices-system-cpu.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from unjank.cpu.errors import AbsentError
from unjank.cpu.kernel_tree import KernelTree

Level = Literal["core", "cluster", "l2", "l3", "die", "package", "node"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""What CPUs may share."""

_CPUS = "sys/devices/system/cpu"
_NO_CLUSTER = (None, -1, 65535)  # -1, and the same in the 16 bits that x86 keeps
_CLASS_GAP = 1.15
"""CPUs differ in kind where one is 15% above the next; less is one design's favoured core."""


@dataclass(frozen=True)
class Cache:
    """A cache and the CPUs that share it. `kind` is Data, Instruction or Unified."""

    level: int
    kind: str
    size_bytes: int | None
    cpus: frozenset[int]


@dataclass(frozen=True)
class Cpu:
    """One CPU.

    Attributes:
        number: The kernel's number, as in affinity masks.
        online: Whether the kernel runs anything there.
        package: Socket; None where the kernel does not say, as for those below.
        die: Die within the package.
        core: Core within the package.
        node: NUMA node.
        cluster: The kernel's own cluster number, CPUs sharing an L2 or the like.
        siblings: CPUs of the same core, itself among them.
        cluster_cpus: CPUs of the same kernel cluster; empty where the kernel knows no clusters.
        caches: The caches it uses.
        capacity: Compute capacity, 1024 for the fastest CPU.
        max_khz: Highest frequency the hardware has.
        isolated: Whether the scheduler leaves it to threads bound there (isolcpus).
        tickless: Whether it runs without timer tick while one thread has it (nohz_full).
    """

    number: int
    online: bool
    package: int | None = None
    die: int | None = None
    core: int | None = None
    node: int | None = None
    cluster: int | None = None
    siblings: frozenset[int] = frozenset()
    cluster_cpus: frozenset[int] = frozenset()
    caches: tuple[Cache, ...] = ()
    capacity: int | None = None
    max_khz: int | None = None
    isolated: bool = False
    tickless: bool = False

    def sharing(self, cache_level: int) -> frozenset[int]:
        """CPUs with which it shares its data cache of that level; empty where there is none."""
        shared = [c.cpus for c in self.caches if c.level == cache_level and c.kind != "Instruction"]
        return shared[0] if shared else frozenset()


@dataclass(frozen=True)
class Topology:
    """The machine's CPUs.

    Attributes:
        cpus: All that are present, by number.
        allowed: Those that this process may use: where every choice starts, whatever their numbers.
        described: Whether sysfs told how they relate; otherwise only their numbers are known.
    """

    cpus: tuple[Cpu, ...]
    allowed: frozenset[int]
    described: bool

    @cached_property
    def by_number(self) -> dict[int, Cpu]:
        """CPUs by number."""
        return {cpu.number: cpu for cpu in self.cpus}

    @property
    def online(self) -> frozenset[int]:
        """Numbers of the CPUs that are online."""
        return frozenset(cpu.number for cpu in self.cpus if cpu.online)

    def groups(self, level: Level) -> tuple[frozenset[int], ...]:
        """The online CPUs, those that share `level` together, by their lowest number."""
        return _grouped(self._key(level), [cpu for cpu in self.cpus if cpu.online])

    def sharing(self, level: Level, number: int) -> frozenset[int]:
        """The online CPUs that share `level` with one.

        Raises:
            AbsentError: There is no such CPU online.
        """
        for group in self.groups(level):
            if number in group:
                return group
        raise AbsentError(f"CPU {number} is not online; `unjank cpu show` lists those that are")

    @cached_property
    def classes(self) -> dict[str, frozenset[int]]:
        """CPUs by kind, slowest first: little, big, prime. One kind only: `{"all": …}`."""
        ranked = _ranked_kinds([cpu for cpu in self.cpus if cpu.online])
        names = {1: ["all"], 2: ["little", "big"], 3: ["little", "big", "prime"]}.get(len(ranked))
        if names is None:  # more kinds than there are names for: those between are all big
            ranked = [ranked[0], frozenset().union(*ranked[1:-1]), ranked[-1]] if ranked else []
            names = ["little", "big", "prime"]
        return dict(zip(names, ranked, strict=False))

    def _key(self, level: Level) -> Callable[[Cpu], Hashable]:
        keys: dict[Level, Callable[[Cpu], Hashable]] = {
            "core": lambda cpu: cpu.siblings or cpu.number,
            "l2": lambda cpu: cpu.sharing(2) or cpu.number,
            "l3": lambda cpu: cpu.sharing(3) or cpu.package,
            "die": lambda cpu: (cpu.package, cpu.die),
            "package": lambda cpu: cpu.package,
            "node": lambda cpu: cpu.node,
            "cluster": self._cluster_key,
        }
        return keys[level]

    def _cluster_key(self, cpu: Cpu) -> Hashable:
        # Phones seldom tell their clusters, but their kinds of CPU are what is meant.
        kind = next((name for name, cpus in self.classes.items() if cpu.number in cpus), None)
        if self._kernel_clusters and cpu.cluster_cpus:
            return kind, cpu.cluster_cpus
        return kind, cpu.sharing(3) or (cpu.package, cpu.die)

    @cached_property
    def _kernel_clusters(self) -> bool:
        """Whether the kernel's clusters are more than cores: on many servers each is one core."""
        return any(cpu.cluster_cpus - cpu.siblings for cpu in self.cpus)


def read_topology(
    tree: KernelTree | None = None, allowed: Callable[[], Iterable[int]] = lambda: os.sched_getaffinity(0)
) -> Topology:
    """Reads the machine's CPUs. Where there is no `/sys`, what `/proc/cpuinfo` or the affinity mask names.

    Args:
        tree: The kernel's files.
        allowed: The CPUs this process may use.
    """
    tree = tree or KernelTree()
    usable = frozenset(allowed())
    online = tree.cpus(f"{_CPUS}/online")
    if online is None:
        numbers = _listed_in_cpuinfo(tree) | usable
        return Topology(
            tuple(Cpu(number, online=True) for number in sorted(numbers)), usable, described=False
        )
    present = (tree.cpus(f"{_CPUS}/present") or frozenset()) | online
    nodes = _nodes(tree)
    isolated = tree.cpus(f"{_CPUS}/isolated") or frozenset()
    tickless = tree.cpus(f"{_CPUS}/nohz_full") or frozenset()
    kinds = _hybrid_kinds(tree)
    cpus = [
        _read_cpu(
            tree,
            number,
            online=number in online,
            node=nodes.get(number),
            isolated=number in isolated,
            tickless=number in tickless,
            hybrid_capacity=kinds.get(number),
        )
        for number in sorted(present)
    ]
    return Topology(tuple(cpus), usable, described=True)


def _read_cpu(
    tree: KernelTree,
    number: int,
    *,
    online: bool,
    node: int | None,
    isolated: bool,
    tickless: bool,
    hybrid_capacity: int | None,
) -> Cpu:
    folder = f"{_CPUS}/cpu{number}"
    cluster = tree.number(f"{folder}/topology/cluster_id")
    clustered = cluster not in _NO_CLUSTER
    siblings = tree.cpus(f"{folder}/topology/core_cpus_list") or tree.cpus(
        f"{folder}/topology/thread_siblings_list"  # its name before Linux 5.3
    )
    return Cpu(
        number,
        online,
        package=tree.number(f"{folder}/topology/physical_package_id"),
        die=tree.number(f"{folder}/topology/die_id"),
        core=tree.number(f"{folder}/topology/core_id"),
        node=node,
        cluster=cluster if clustered else None,
        siblings=siblings or frozenset({number}),
        cluster_cpus=(tree.cpus(f"{folder}/topology/cluster_cpus_list") or frozenset())
        if clustered
        else frozenset(),
        caches=_read_caches(tree, f"{folder}/cache"),
        capacity=hybrid_capacity or tree.number(f"{folder}/cpu_capacity"),
        max_khz=tree.number(f"{folder}/cpufreq/cpuinfo_max_freq"),
        isolated=isolated,
        tickless=tickless,
    )


def _read_caches(tree: KernelTree, folder: str) -> tuple[Cache, ...]:
    caches = []
    for index in tree.names(folder):
        level = tree.number(f"{folder}/{index}/level")
        if level is not None:
            cpus = tree.cpus(f"{folder}/{index}/shared_cpu_list") or frozenset()
            kind = tree.text(f"{folder}/{index}/type") or "Unified"
            caches.append(Cache(level, kind, _size(tree.text(f"{folder}/{index}/size")), cpus))
    return tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind)))


def _size(text: str | None) -> int | None:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    digits = (text or "").rstrip("KMG")
    return int(digits) * units.get((text or "")[-1:], 1) if digits.isdecimal() else None


def _nodes(tree: KernelTree) -> dict[int, int]:
    found = {}
    for name in tree.names("sys/devices/system/node"):
        if name.startswith("node") and name[4:].isdecimal():
            for cpu in tree.cpus(f"sys/devices/system/node/{name}/cpulist") or ():
                found[cpu] = int(name[4:])
    return found


def _hybrid_kinds(tree: KernelTree) -> dict[int, int]:
    """Kinds of CPU of hybrid x86, told by the two performance counter units; as capacities."""
    little, big = tree.cpus("sys/devices/cpu_atom/cpus"), tree.cpus("sys/devices/cpu_core/cpus")
    if not little or not big:
        return {}
    # Only their order counts here; kernels that know the real capacities are older than neither unit.
    return {**dict.fromkeys(little, 512), **dict.fromkeys(big, 1024)}


def _listed_in_cpuinfo(tree: KernelTree) -> frozenset[int]:
    lines = (tree.text("proc/cpuinfo") or "").splitlines()
    words = [line.partition(":")[2].strip() for line in lines if line.startswith("processor")]
    return frozenset(int(word) for word in words if word.isdecimal())


def _grouped(key: Callable[[Cpu], Hashable], cpus: Iterable[Cpu]) -> tuple[frozenset[int], ...]:
    groups: defaultdict[Hashable, set[int]] = defaultdict(set)
    for cpu in cpus:
        groups[key(cpu)].add(cpu.number)
    return tuple(sorted(map(frozenset, groups.values()), key=min))


def _ranked_kinds(cpus: list[Cpu]) -> list[frozenset[int]]:
    """CPUs of about the same speed together, slowest first; all in one where their speeds are not known."""
    for attribute in ("capacity", "max_khz"):
        speeds: dict[int, int] = {cpu.number: getattr(cpu, attribute) or 0 for cpu in cpus}
        if all(speeds.values()):
            kinds = _split_at_gaps(speeds)
            if len(kinds) > 1:
                return kinds
    return [frozenset(cpu.number for cpu in cpus)] if cpus else []


def _split_at_gaps(speeds: dict[int, int]) -> list[frozenset[int]]:
    kinds: list[set[int]] = []
    last = 0
    for number, value in sorted(speeds.items(), key=lambda item: item[1]):
        if not kinds or value > last * _CLASS_GAP:
            kinds.append(set())
        kinds[-1].add(number)
        last = value
    return [frozenset(kind) for kind in kinds]
