"""Which pairs of CPUs are measured: all, or on huge machines some of each kind; and where their page is."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from unjank.cpu import Topology

Relation = Literal["core", "cluster", "node", "package", "machine"]
Home = Literal["own", "remote"]

RELATIONS: tuple[Relation, ...] = get_args(Relation)
_Shared = Literal["core", "cluster", "node", "package"]
_LEVELS: tuple[_Shared, ...] = get_args(_Shared)
_Groups = Mapping[_Shared, Mapping[int, frozenset[int]]]

_SEED = 1  # the same pairs each time, so that runs can be compared


@dataclass(frozen=True)
class Pair:
    """Two CPUs and where the line between them comes from.

    Attributes:
        first: Begins each round trip.
        second: Answers.
        relation: The nearest thing they share.
        home: `own`: `first` touched the page; `remote`: a CPU of another memory node than both.
        home_cpu: Which CPU that is.
    """

    first: int
    second: int
    relation: Relation
    home: Home
    home_cpu: int


@dataclass(frozen=True)
class Selection:
    """What is measured.

    Attributes:
        pairs: Those chosen.
        available: How many there are.
        absent: Why something lacks, by name.
    """

    pairs: tuple[Pair, ...]
    available: int
    absent: Mapping[str, str]

    @property
    def sampled(self) -> bool:
        """Whether some were left out."""
        return len(self.pairs) < self.available


def select_pairs(topology: Topology, cpus: Sequence[int], most: int) -> Selection:
    """All ordered pairs, with each home their page can have; at most `most`, of each kind as many as fit.

    Both orders are measured: in each the page is home at its first CPU.
    """
    groups = _groups(topology)
    own = [_own(groups, a, b) for a in cpus for b in cpus if a != b]
    nodes = {cpu: topology.by_number[cpu].node for cpu in cpus}
    remote = [pair for pair in (_remote(pair, nodes) for pair in own) if pair is not None]
    absent = {} if remote else {"core_to_core remote home": _no_remote(nodes)}
    everything = [*own, *remote]
    return Selection(tuple(_sample(everything, most)), len(everything), absent)


def relation(topology: Topology, first: int, second: int) -> Relation:
    """The nearest thing two CPUs share."""
    return _nearest(_groups(topology), first, second)


def _groups(topology: Topology) -> _Groups:
    return {level: {cpu: group for group in topology.groups(level) for cpu in group} for level in _LEVELS}


def _nearest(groups: _Groups, first: int, second: int) -> Relation:
    for level in _LEVELS:
        if second in groups[level][first]:
            return level
    return "machine"


def _own(groups: _Groups, first: int, second: int) -> Pair:
    return Pair(first, second, _nearest(groups, first, second), "own", first)


def _remote(pair: Pair, nodes: Mapping[int, int | None]) -> Pair | None:
    near = {nodes[pair.first], nodes[pair.second]}
    far = [cpu for cpu, node in nodes.items() if node is not None and node not in near]
    return replace(pair, home="remote", home_cpu=far[0]) if far and None not in near else None


def _no_remote(nodes: Mapping[int, int | None]) -> str:
    known = set(nodes.values()) - {None}
    if len(known) < 2:
        return "the CPUs measured are of one memory node: no page is remote"
    return "every pair measured spans all memory nodes"


def _sample(pairs: Iterable[Pair], most: int) -> list[Pair]:
    """An equal share of each kind, and what small kinds leave over to the others; in the order they came."""
    kinds: defaultdict[tuple[Relation, Home], list[Pair]] = defaultdict(list)
    order = list(pairs)
    for pair in order:
        kinds[pair.relation, pair.home].append(pair)
    chance = random.Random(_SEED)  # noqa: S311  not for secrets
    chosen: set[Pair] = set()
    left = most
    for rank, kind in enumerate(sorted(kinds.values(), key=len)):
        share = min(len(kind), left // (len(kinds) - rank))
        chosen.update(chance.sample(kind, share))
        left -= share
    return [pair for pair in order if pair in chosen]
