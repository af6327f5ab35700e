"""The whole of `bench atomics`."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Literal

from unjank import _bench
from unjank.bench._cpus import require_usable, usable_cpus
from unjank.bench._majority import keep
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.atomics._cases import OPERATIONS, Case, Instructions, Layout, Operation, cases
from unjank.bench.atomics._reading import Reading, judge, read_best
from unjank.cpu import Topology, read_topology

_SECONDS, _TRIES = 0.003, 5  # of one repetition of one case
_LEAST_SECONDS = 0.001
_PUBLISHED_LSE = 3.0  # heavily contended compare-and-swap, with LSE against without, as others measured it
_COMPARED: tuple[tuple[Operation, Operation], ...] = (
    ("fetch_add", "lock"),
    ("fetch_add", "cas_loop"),
    ("cas_loop", "lock"),
)

ByTurn = Mapping[int, Reading]


def run_atomics(
    scale: Scale,
    progress: Progress,
    *,
    cpus: Sequence[int] | None = None,
    threads: int | None = None,
    topology: Topology | None = None,
) -> Report:
    """Measures counting at once.

    Args:
        scale: How much.
        progress: Told what comes next.
        cpus: Threads are bound to these, in this order; all that this process may use by default.
        threads: The most of them; as many as CPUs by default.
        topology: The machine; read from it by default.

    Raises:
        UnjankError: A CPU cannot be used, or the kernel refused something.
    """
    topology = topology or read_topology()
    chosen = usable_cpus(topology) if cpus is None else list(dict.fromkeys(cpus))
    require_usable(chosen, topology)
    instructions = _bench.available_instructions()
    what = cases(chosen, threads or len(chosen), instructions)
    taken = _take(what, scale, progress)
    report = Report()
    kept = {case: _keep(report, case, taken[str(case)]) for case in what}
    _compare(report, kept, instructions)
    if instructions == ["llsc"]:
        report.leave_out("lse_vs_llsc_cas_loop", "this CPU has no LSE: it is older than ARMv8.1")
    if max(len(case.cpus) for case in what) == 1:
        report.leave_out("contention", "one thread only: give more CPUs, or --threads 2 to share one")
    return report


def _take(what: Sequence[Case], scale: Scale, progress: Progress) -> dict[str, list[Reading]]:
    seconds = max(_LEAST_SECONDS, _SECONDS / scale.divisor)

    def told(case: Case) -> Reading:
        progress(str(case))
        return read_best(case, seconds, _TRIES)

    return interleaved({str(case): partial(told, case) for case in what}, scale.repeats, collect=False)


def _keep(report: Report, case: Case, readings: Sequence[Reading]) -> ByTurn:
    """Notes the case if most of its readings may be believed; answers these."""
    kept = keep(readings, lambda reading: judge(reading, case))
    report.judged(len(readings), kept.refusals)
    if kept.reason:
        report.leave_out(f"atomics {case}", kept.reason)
        return {}
    values = list(kept.readings.values())
    report.add(
        "atomics",
        "ns/count",
        [reading.ns_each for reading in values],
        operation=case.operation,
        layout=case.layout,
        instructions=case.instructions,
        threads=len(case.cpus),
        cpus=list(case.cpus),
        refused=len(kept.refusals),
        retries_per_count=median(_per_count(reading, "retries") for reading in values),
        fairness=median(reading.fairness for reading in values),
        cpu_ns_per_count=median(_per_count(reading, "cpu_ns") for reading in values),
    )
    return kept.readings


def _per_count(reading: Reading, what: Literal["retries", "cpu_ns"]) -> float:
    return float(sum(getattr(thread, what) for thread in reading.threads) / reading.operations)


def _compare(report: Report, kept: Mapping[Case, ByTurn], instructions: Sequence[Instructions]) -> None:
    """Rates: how many times as many counts in the same time."""
    counts = sorted({len(case.cpus) for case in kept})
    by_name = {str(case): readings for case, readings in kept.items()}
    best = instructions[-1]
    for threads in dict.fromkeys((counts[0], counts[-1])):
        of = partial(_of, by_name, threads)
        shared: dict[Operation, ByTurn] = {name: of(name, "shared", best) for name in OPERATIONS}
        for ours, theirs in _COMPARED:
            _ratio(report, f"{ours}_vs_{theirs}_{threads}_threads", shared[ours], shared[theirs])
        if threads == 1:
            continue
        for name in OPERATIONS:
            padded = of(name, "padded", best)
            _ratio(report, f"{name}_padded_vs_shared_{threads}_threads", padded, shared[name])
            _ratio(report, f"{name}_padded_vs_packed_{threads}_threads", padded, of(name, "packed", best))
    if len(instructions) > 1:
        _compare_instructions(report, by_name, counts[-1])


def _compare_instructions(report: Report, by_name: Mapping[str, ByTurn], threads: int) -> None:
    for name, published in (("cas_loop", _PUBLISHED_LSE), ("fetch_add", None)):
        lse, llsc = (by_name.get(f"{name} {how} shared {threads}", {}) for how in ("lse", "llsc"))
        _ratio(report, f"lse_vs_llsc_{name}", lse, llsc, published)


def _of(
    by_name: Mapping[str, ByTurn], threads: int, operation: Operation, layout: Layout, how: Instructions
) -> ByTurn:
    return by_name.get(str(Case(operation, layout, how, (0,) * threads)), {})


def _ratio(report: Report, name: str, ours: ByTurn, theirs: ByTurn, published: float | None = None) -> None:
    turns = sorted(ours.keys() & theirs.keys())
    if turns:
        tops, bottoms = ([side[turn].ns_each for turn in turns] for side in (theirs, ours))
        report.compare(name, tops, bottoms, of="rate", published=published)
