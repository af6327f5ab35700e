"""Gives groups of threads their CPUs, and says why."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from unjank.cpu.cpulist import format_cpu_list
from unjank.cpu.place.groups import Group, Limits, between, cluster_groups, core_groups
from unjank.cpu.place.wakeups import Member, WakeGraph, require_two_cpus
from unjank.cpu.topology import Topology


@dataclass(frozen=True)
class Placement:
    """Threads and the CPUs they should have.

    Attributes:
        members: Who.
        cpus: Where.
        shares: `cpu` or `cluster`.
        reason: Why, in one sentence.
    """

    members: tuple[Member, ...]
    cpus: frozenset[int]
    shares: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """What should be bound; threads that are in no placement stay as they are.

    Attributes:
        placements: Groups and their CPUs, most wake-ups first.
        left: Groups that wake each other often and are left alone all the same, with the reason.
        graph: What it was made from.
        spared_per_s: Wake-ups to another CPU, a second, that it is to spare.
    """

    placements: tuple[Placement, ...]
    left: tuple[str, ...]
    graph: WakeGraph
    spared_per_s: float

    @property
    def utids(self) -> frozenset[int]:
        """All threads that are placed."""
        return _bound(self.placements)


def make_plan(graph: WakeGraph, topology: Topology | None = None, limits: Limits | None = None) -> Plan:
    """Plans which threads to bind where.

    Args:
        graph: Threads and wake-ups.
        topology: The machine; what the trace tells of it by default.
        limits: When threads belong together.

    Raises:
        CpuError: There is one CPU only.
    """
    topology = topology or graph.topology
    limits = limits or Limits()
    require_two_cpus(topology)
    return _Planner(graph, topology, limits).plan()


def _bound(placed: Iterable[Placement]) -> frozenset[int]:
    return frozenset(member.utid for placement in placed for member in placement.members)


class _Planner:
    """Places one group after the other; keeps what each CPU has been given."""

    def __init__(self, graph: WakeGraph, topology: Topology, limits: Limits) -> None:
        self._graph = graph
        self._limits = limits
        usable = topology.allowed & topology.online
        self._clusters = [group & usable for group in topology.groups("cluster") if group & usable]
        self._speed = {cpu.number: cpu.capacity or cpu.max_khz or 0 for cpu in topology.cpus}
        self._siblings = {cpu.number: cpu.siblings or frozenset({cpu.number}) for cpu in topology.cpus}
        self._given: defaultdict[int, float] = defaultdict(float)

    def plan(self) -> Plan:
        cores = core_groups(self._graph, self._limits)
        wide = cluster_groups(self._graph, cores, self._limits, max(map(len, self._clusters)))
        placed: list[Placement] = []
        left: list[str] = []
        for group in wide:
            if group.crossed_per_s < self._limits.crossed_per_s:
                left.append(self._already_together(group))
                continue
            cluster = self._choose_cluster(group)
            inner = [core for core in cores if core.utids <= group.utids]
            placed += [self._on_core(core, cluster) for core in inner]
            rest = group.utids.difference(*(core.utids for core in inner))
            if rest and len(self._clusters) > 1:
                placed.append(self._on_cluster(group, rest, cluster))
            elif self._rate(rest) >= self._limits.tight_per_s:
                left.append(self._at_once(rest))
        spared = sum(core.crossed_per_s for core in cores if core.utids <= _bound(placed))
        return Plan(tuple(placed), tuple(left), self._graph, spared)

    def _choose_cluster(self, group: Group) -> frozenset[int]:
        """The fastest with room; of those the one where its threads ran most already."""

        def key(cluster: frozenset[int]) -> tuple[bool, int, int, int]:
            room = len(cluster) - sum(self._given[cpu] for cpu in cluster)
            fits = room >= min(group.load, 1.0)
            speed = max(self._speed[cpu] for cpu in cluster)
            return fits, speed, self._ran_on(group.utids, cluster), -min(cluster)

        return max(self._clusters, key=key)

    def _on_core(self, group: Group, cluster: frozenset[int]) -> Placement:
        cpu = min(cluster, key=lambda cpu: (*self._load_at(cpu), -self._ran_on(group.utids, {cpu}), cpu))
        self._given[cpu] += min(group.load, 1.0)
        turns = group.load > self._limits.core_fill
        why = (
            f"they take turns, {group.at_once:.2f} run at once"
            if turns
            else f"together they need {group.load:.0%} of one"
        )
        return Placement(
            self._members(group.utids),
            frozenset({cpu}),
            "cpu",
            f"wake each other {group.per_s:,.0f} times a second, and {why}: one CPU spares waking another",
        )

    def _load_at(self, cpu: int) -> tuple[float, float]:
        """What its whole core has been given, since hardware threads share that, and what it has itself."""
        return sum(self._given[sibling] for sibling in self._siblings[cpu]), self._given[cpu]

    def _on_cluster(self, group: Group, rest: frozenset[int], cluster: frozenset[int]) -> Placement:
        load = sum(self._graph.members[utid].load for utid in rest)
        for cpu in cluster:
            self._given[cpu] += load / len(cluster)
        return Placement(
            self._members(rest),
            cluster,
            "cluster",
            f"wake each other and theirs {group.per_s:,.0f} times a second: CPU {format_cpu_list(cluster)} "
            "share a cache",
        )

    def _already_together(self, group: Group) -> str:
        return (
            f"{self._names(group.utids)}: wake each other {group.per_s:,.0f} times a second, but only "
            f"{group.crossed_per_s:,.0f} of these go to another CPU: they are kept together already"
        )

    def _at_once(self, utids: frozenset[int]) -> str:
        at_once = self._graph.concurrency(utids).at_once
        return (
            f"{self._names(utids)}: {at_once:.2f} of them run at once on average, so one CPU would slow "
            "them, and all CPUs here share a cache"
        )

    def _rate(self, utids: frozenset[int]) -> float:
        return sum(edge.per_s for edge in between(self._graph.edges, utids))

    def _names(self, utids: Iterable[int]) -> str:
        return ", ".join(map(str, self._members(utids)))

    def _members(self, utids: Iterable[int]) -> tuple[Member, ...]:
        return tuple(sorted((self._graph.members[utid] for utid in utids), key=lambda m: m.tid))

    def _ran_on(self, utids: Iterable[int], cpus: Iterable[int]) -> int:
        return sum(self._graph.members[utid].run_ns.get(cpu, 0) for utid in utids for cpu in cpus)
