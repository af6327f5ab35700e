"""Where the two sides run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from unjank.bench._cpus import require_usable, usable_cpus
from unjank.cpu import Topology
from unjank.cpu.topology import Level

PlacementName = Literal["same-cpu", "smt", "same-cluster", "across", "given", "unpinned"]

PLACEMENTS: tuple[PlacementName, ...] = get_args(PlacementName)
APART: tuple[PlacementName, ...] = ("given", "across", "same-cluster", "smt")  # the farthest first
_ANYWHERE = -1


@dataclass(frozen=True)
class Placement:
    """A CPU for each side.

    Attributes:
        name: What the two CPUs have in common.
        first: Of the side that begins; -1 pins it to none.
        second: Of the side that answers.
    """

    name: PlacementName
    first: int = _ANYWHERE
    second: int = _ANYWHERE

    @property
    def pinned(self) -> bool:
        """Whether the scheduler has no choice."""
        return self.first != _ANYWHERE


@dataclass(frozen=True)
class Choice:
    """The placements this machine has, and why it lacks others.

    Attributes:
        placements: In the order they are shown.
        absent: The reason, by name.
    """

    placements: tuple[Placement, ...]
    absent: Mapping[PlacementName, str]

    @property
    def farthest(self) -> Placement | None:
        """The pair of two CPUs that have the least in common; the pair that was asked for comes first."""
        by_name = {placement.name: placement for placement in self.placements}
        return next((by_name[name] for name in APART if name in by_name), None)


def choose_placements(topology: Topology, pair: tuple[int, int] | None = None) -> Choice:
    """One pair of CPUs for each way in which two of them can be near.

    Args:
        topology: The machine, with the CPUs this process may use.
        pair: Two CPUs to use instead: the first is also where both sides run together.

    Raises:
        UnjankError: The pair cannot be used.
    """
    unpinned = Placement("unpinned")
    if pair is not None:
        require_usable(pair, topology)
        first, second = pair
        apart = (Placement("given", first, second),) if first != second else ()
        return Choice((Placement("same-cpu", first, first), *apart, unpinned), {})
    cpus = usable_cpus(topology)
    together = Placement("same-cpu", cpus[0], cpus[0])
    if len(cpus) == 1:
        one = f"this process may use one CPU only, {cpus[0]}"
        return Choice((together,), {"same-cluster": one, "across": one, "unpinned": f"{one}: as same-cpu"})
    return _pairs(topology, cpus, together, unpinned)


def _pairs(topology: Topology, cpus: list[int], together: Placement, unpinned: Placement) -> Choice:
    found = dict(_nearest(topology, cpus))
    absent: dict[PlacementName, str] = {
        name: reason for name, reason in _WHY_ABSENT.items() if name not in found
    }
    apart = [Placement(name, *found[name]) for name in ("smt", "same-cluster", "across") if name in found]
    return Choice((together, *apart, unpinned), absent)


_WHY_ABSENT: Mapping[PlacementName, str] = {
    "same-cluster": "no two cores that this process may use share a cluster",
    "across": "all CPUs that this process may use are of one cluster",
}


def _nearest(topology: Topology, cpus: list[int]) -> Iterator[tuple[PlacementName, tuple[int, int]]]:
    """The first pair of each kind, from the lowest usable CPU on."""
    core, cluster = _members(topology, "core"), _members(topology, "cluster")
    pairs = [(a, b) for a in cpus for b in cpus if a < b]
    kinds: dict[PlacementName, list[tuple[int, int]]] = {
        "smt": [(a, b) for a, b in pairs if b in core[a]],
        "same-cluster": [(a, b) for a, b in pairs if b in cluster[a] and b not in core[a]],
        "across": [(a, b) for a, b in pairs if b not in cluster[a]],
    }
    for name, candidates in kinds.items():
        if candidates:
            yield name, candidates[0]


def _members(topology: Topology, level: Level) -> dict[int, frozenset[int]]:
    return {cpu: group for group in topology.groups(level) for cpu in group}
