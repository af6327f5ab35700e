"""The whole of `bench cores`: every pair in turn, sweep after sweep."""

from collections.abc import Mapping, Sequence
from statistics import median

from unjank import UnjankError
from unjank.bench._cpus import require_usable, usable_cpus
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.cores._cell import Cell, Reading, read, settle
from unjank.bench.cores._pairs import RELATIONS, Home, Pair, Relation, Selection, select_pairs
from unjank.cpu import Topology, read_topology

MOST_PAIRS = 2_000
_TOLD_EVERY = 50


def run_cores(
    scale: Scale,
    progress: Progress,
    *,
    cpus: Sequence[int] | None = None,
    most_pairs: int = MOST_PAIRS,
    topology: Topology | None = None,
) -> Report:
    """Measures the latency between CPUs.

    Args:
        scale: How much; each repetition is a sweep over all pairs, after one that warms up.
        progress: Told what comes next.
        cpus: Only these; all that this process may use by default.
        most_pairs: Beyond as many a sample is taken.
        topology: The machine; read from it by default.

    Raises:
        UnjankError: There are not two CPUs to measure, one cannot be used, or the kernel refused something.
    """
    topology = topology or read_topology()
    chosen = _choose(topology, cpus)
    selection = select_pairs(topology, chosen, most_pairs)
    taken = _sweep(selection.pairs, scale, progress)
    nodes = {cpu: topology.by_number[cpu].node for cpu in chosen}
    cells = [settle(pair, taken[pair], nodes) for pair in selection.pairs]
    report = Report()
    _note(report, cells, selection)
    _compare(report, cells)
    return report


def _choose(topology: Topology, cpus: Sequence[int] | None) -> list[int]:
    chosen = usable_cpus(topology) if cpus is None else sorted(set(cpus))
    require_usable(chosen, topology)
    if len(chosen) < 2:
        there = f"only CPU {chosen[0]}" if chosen else "none"
        raise UnjankError(
            f"core-to-core latency needs two CPUs and there is {there}; "
            "give --cpus more, or this process: taskset, or its cgroup's cpuset"
        )
    return chosen


def _sweep(pairs: Sequence[Pair], scale: Scale, progress: Progress) -> dict[Pair, list[Reading]]:
    """One reading of each pair per sweep, every other sweep backwards; the first only warms up."""
    taken: dict[Pair, list[Reading]] = {pair: [] for pair in pairs}
    for turn in range(scale.repeats + 1):
        for place, pair in enumerate(pairs[:: -1 if turn % 2 else 1]):
            if place % _TOLD_EVERY == 0:
                progress(f"sweep {turn} of {scale.repeats}, {place} of {len(pairs)} pairs")
            reading = read(pair, scale.divisor)
            if turn > 0:
                taken[pair].append(reading)
    return taken


def _note(report: Report, cells: Sequence[Cell], selection: Selection) -> None:
    for name, reason in selection.absent.items():
        report.leave_out(name, reason)
    if selection.sampled:
        report.leave_out(
            "core_to_core of all pairs",
            f"of {selection.available} pairs {len(selection.pairs)} were sampled; --pairs measures more",
        )
    for cell in cells:
        pair = cell.pair
        report.judged(len(cell.values_ns) + len(cell.refusals), cell.refusals)
        if cell.reason:
            report.leave_out(f"core_to_core {pair.first} {pair.second} {pair.home} home", cell.reason)
            continue
        report.add(
            "core_to_core",
            "ns",
            list(cell.values_ns.values()),
            first=pair.first,
            second=pair.second,
            relation=pair.relation,
            home=pair.home,
            home_cpu=pair.home_cpu,
            node=cell.node,
            refused=len(cell.refusals),
            stable=cell.stable,
            spread=cell.spread,
        )


def _compare(report: Report, cells: Sequence[Cell]) -> None:
    """Each relation to the nearest one of this machine, and remote homes to own ones; sweep by sweep."""
    by_relation = {name: _typical(cells, "own", name) for name in RELATIONS}
    there = [name for name in RELATIONS if by_relation[name]]
    for name in there[1:]:
        _ratio(report, f"{name}_vs_{there[0]}", by_relation[name], by_relation[there[0]])
    far = [cell.pair.relation for cell in cells if cell.pair.home == "remote" and cell.values_ns]
    for name in sorted(set(far), key=RELATIONS.index):
        suffix = "" if len(set(far)) == 1 else f"_{name}"
        _ratio(report, f"remote_vs_own_home{suffix}", _typical(cells, "remote", name), by_relation[name])


def _typical(cells: Sequence[Cell], home: Home, relation: Relation) -> dict[int, float]:
    """Median over the pairs of one kind, by sweep."""
    values: dict[int, list[float]] = {}
    for cell in cells:
        if cell.pair.home == home and cell.pair.relation == relation:
            for turn, ns in cell.values_ns.items():
                values.setdefault(turn, []).append(ns)
    return {turn: median(found) for turn, found in values.items()}


def _ratio(report: Report, name: str, tops: Mapping[int, float], bottoms: Mapping[int, float]) -> None:
    turns = sorted(tops.keys() & bottoms.keys())
    if turns:
        report.compare(name, [tops[n] for n in turns], [bottoms[n] for n in turns], of="time")
