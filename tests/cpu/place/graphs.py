"""Graphs of wake-ups, made up."""

from collections.abc import Mapping, Sequence

from unjank.cpu import Topology
from unjank.cpu.place import Edge, Member, WakeGraph
from unjank.cpu.place.wakeups import ConcurrencyOf

SECOND = 1_000_000_000


def graph(
    topology: Topology,
    loads: Mapping[int, float],
    wakeups: Mapping[tuple[int, int], float],
    *,
    crossed: float = 1.0,
    spans: Mapping[int, Sequence[tuple[int, int]]] | None = None,
    cpus: Mapping[int, int] | None = None,
) -> WakeGraph:
    """One second of threads.

    Args:
        topology: The machine.
        loads: Share of a CPU by thread; ids serve as utid and tid.
        wakeups: How often the first woke the second.
        crossed: Share of wake-ups that went to another CPU.
        spans: When they ran, ns; by default one after the other, so that they take turns.
        cpus: Where they ran; CPU 0 by default.
    """
    runs: dict[int, Sequence[tuple[int, int]]] = {}
    at = 0
    for tid, load in loads.items():
        runs[tid] = [(at, at + round(load * SECOND))]
        at += round(load * SECOND)
    members = {
        tid: Member(tid, 1, tid, f"t{tid}", load, {(cpus or {}).get(tid, 0): round(load * SECOND)})
        for tid, load in loads.items()
    }
    edges = [Edge(waker, woken, rate, rate * crossed) for (waker, woken), rate in wakeups.items()]
    return WakeGraph(
        members,
        tuple(sorted(edges, key=lambda edge: -edge.per_s)),
        seconds=1.0,
        switches_per_s=0.0,
        topology=topology,
        concurrency=ConcurrencyOf(dict(spans) if spans else runs),
    )
