"""Cuts the graph of wake-ups into groups that belong on one CPU, or in one cache cluster.

Greedy: the most frequent wake-ups first, two groups become one where the result still fits. Threads that take
turns fit on one CPU however busy they are, since they never run at once; others need one each.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from unjank.cpu.place.wakeups import Edge, WakeGraph

_Pair = frozenset[frozenset[int]]


@dataclass(frozen=True)
class Limits:
    """When threads belong together.

    Attributes:
        tight_per_s: Wake-ups a second between two groups from which on they should share a CPU. Waking across
            CPUs costs some microseconds, so a thousand are the first that are worth it.
        related_per_s: The same for sharing a cache cluster.
        crossed_per_s: Wake-ups to another CPU a second from which on a group is worth binding; with fewer the
            scheduler keeps it together already.
        core_fill: Load up to which threads share a CPU though they may run at once.
        turns: Number of threads running at once, while any does, up to which they may take turns: waker and
            woken overlap for the time that the wake-up itself takes.
        avoidance: How much longer some of them run than by chance, from which on they do take turns.
    """

    tight_per_s: float = 1_000.0
    related_per_s: float = 100.0
    crossed_per_s: float = 100.0
    core_fill: float = 0.9
    turns: float = 1.75
    avoidance: float = 1.03


@dataclass(frozen=True)
class Group:
    """Threads that belong together, by utid.

    Attributes:
        utids: Who.
        load: Their share of CPUs, summed up.
        per_s: Wake-ups a second among them.
        crossed_per_s: Of those, to another CPU.
        at_once: How many of them ran at once, while any did.
    """

    utids: frozenset[int]
    load: float
    per_s: float
    crossed_per_s: float
    at_once: float


def core_groups(graph: WakeGraph, limits: Limits) -> list[Group]:
    """Groups of two and more threads that should share a CPU; most wake-ups first."""

    def fits(utids: frozenset[int]) -> bool:
        return _load(graph, utids) <= limits.core_fill or takes_turns(graph, utids, limits)

    single = [frozenset({utid}) for utid in graph.members]
    return _described(graph, _merged(single, graph.edges, limits.tight_per_s, fits))


def takes_turns(graph: WakeGraph, utids: frozenset[int], limits: Limits) -> bool:
    """Whether these threads hand over rather than run beside each other."""
    together = graph.concurrency(utids)
    return together.at_once <= limits.turns and together.avoidance >= limits.avoidance


def cluster_groups(
    graph: WakeGraph, cores: Iterable[Group], limits: Limits, largest_cluster: int
) -> list[Group]:
    """Groups that should share a cache cluster; a group that shares a CPU stays together.

    Args:
        graph: Threads and wake-ups.
        cores: Groups that share a CPU.
        limits: When threads belong together.
        largest_cluster: Number of CPUs of the largest cluster: a group's load is not more.
    """

    def fits(utids: frozenset[int]) -> bool:
        return _load(graph, utids) <= largest_cluster

    together = [group.utids for group in cores]
    rest = set(graph.members).difference(*together)
    parts = [*together, *(frozenset({utid}) for utid in sorted(rest))]
    return _described(graph, _merged(parts, graph.edges, limits.related_per_s, fits))


def between(edges: Iterable[Edge], utids: frozenset[int]) -> list[Edge]:
    """Wake-ups among some threads."""
    return [edge for edge in edges if edge.waker in utids and edge.woken in utids]


def _merged(
    parts: Iterable[frozenset[int]],
    edges: Iterable[Edge],
    least_per_s: float,
    fits: Callable[[frozenset[int]], bool],
) -> list[frozenset[int]]:
    """Joins the two parts with most wake-ups between them, again and again, where the result fits."""
    groups = set(parts)
    rates = _rates_between(groups, edges)
    while rates:
        pair = max(rates, key=rates.__getitem__)
        if rates.pop(pair) < least_per_s:
            break
        joined = frozenset[int]().union(*pair)
        if fits(joined):
            groups = (groups - pair) | {joined}
            rates = _renamed(rates, pair, joined)
    return [group for group in groups if len(group) > 1]


def _rates_between(groups: Iterable[frozenset[int]], edges: Iterable[Edge]) -> dict[_Pair, float]:
    home = {utid: group for group in groups for utid in group}
    rates: defaultdict[_Pair, float] = defaultdict(float)
    for edge in edges:
        first, second = home.get(edge.waker), home.get(edge.woken)
        if first is not None and second is not None and first != second:
            rates[frozenset({first, second})] += edge.per_s
    return rates


def _renamed(rates: Mapping[_Pair, float], gone: _Pair, joined: frozenset[int]) -> dict[_Pair, float]:
    """The rates after the two groups of `gone` became one; what was refused stays so, for it has grown."""
    renamed: defaultdict[_Pair, float] = defaultdict(float)
    for pair, per_s in rates.items():
        renamed[frozenset({joined, *(pair - gone)}) if pair & gone else pair] += per_s
    return renamed


def _described(graph: WakeGraph, groups: Iterable[frozenset[int]]) -> list[Group]:
    described = [_describe(graph, utids) for utids in groups]
    return sorted(described, key=lambda group: (-group.per_s, min(group.utids)))


def _describe(graph: WakeGraph, utids: frozenset[int]) -> Group:
    inner = between(graph.edges, utids)
    return Group(
        utids,
        load=_load(graph, utids),
        per_s=sum(edge.per_s for edge in inner),
        crossed_per_s=sum(edge.crossed_per_s for edge in inner),
        at_once=graph.concurrency(utids).at_once,
    )


def _load(graph: WakeGraph, utids: Iterable[int]) -> float:
    return sum(graph.members[utid].load for utid in utids)
