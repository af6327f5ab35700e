"""The whole of `bench pingpong`: every case in turn, with the programs it is compared with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.pingpong._bare import BareRun, run_bare
from unjank.bench.pingpong._cell import Cell, gather, note
from unjank.bench.pingpong._peers import PEERS, installed
from unjank.bench.pingpong._placements import Choice, Placement, choose_placements
from unjank.bench.pingpong._run import MEDIA, PARTIES, Case, Medium, Parties, Run, calibrate, run_once
from unjank.bench.pingpong.published import RATIOS
from unjank.cpu import Topology, read_topology

_TARGET_NS = 60e6  # of one repetition of one case
_LEAST_ROUNDS, _LEAST_QUICK = 300, 50
_BARE_GOAL = Goal(1.15, at_least=False)
_PROCESS_GOAL = Goal(0.8, at_most=1.3)

Side = Callable[[], Run | BareRun | float]


def run_pingpong(
    scale: Scale,
    progress: Progress,
    *,
    media: Iterable[Medium] = MEDIA,
    parties: Iterable[Parties] = PARTIES,
    pair: tuple[int, int] | None = None,
    topology: Topology | None = None,
) -> Report:
    """Measures hand-overs, each kind proved by the kernel's counters.

    Args:
        scale: How much.
        progress: Told what comes next.
        media: Through what.
        parties: Between what.
        pair: Two CPUs, instead of one pair of each kind this machine has.
        topology: The machine; read from it by default.

    Raises:
        UnjankError: The pair cannot be used, or the kernel refused something.
    """
    report = Report()
    choice = choose_placements(topology or read_topology(), pair)
    for name, reason in choice.absent.items():
        report.leave_out(f"pingpong {name}", reason)
    cases = [Case(m, p, where) for m in media for p in parties for where in choice.placements]
    progress("calibrating")
    least = max(_LEAST_QUICK, scale.count(_LEAST_ROUNDS))
    rounds = {case: calibrate(case, _TARGET_NS / scale.divisor, least) for case in cases}
    taken = interleaved(_sides(report, rounds, progress), scale.repeats, collect=False)
    cells = {case: gather(case, _runs(taken[str(case)])) for case in cases}
    for cell in cells.values():
        note(cell, report)
    _compare(report, cells, choice)
    _compare_with_programs(report, cells, taken)
    return report


def _sides(report: Report, rounds: Mapping[Case, int], progress: Progress) -> dict[str, Side]:
    """All that is measured in one round: the cases, and after the case it is held against, each program."""
    sides: dict[str, Side] = {}
    for case, count in rounds.items():
        sides[str(case)] = partial(_told, progress, str(case), partial(run_once, case, count))
        if case.medium == "pipe" and case.placement.name == "same-cpu":
            sides[f"bare {case}"] = partial(_told, progress, "C program", partial(run_bare, case, count))
    reference = next((case for case in rounds if _is_reference(case)), None)
    if reference is not None:
        cpu = reference.placement.first
        for name in installed(report.leave_out, cpu):
            sides[name] = partial(_told, progress, name, partial(PEERS[name], cpu, rounds[reference]))
    return sides


def _is_reference(case: Case) -> bool:
    return (case.medium, case.parties, case.placement.name) == ("pipe", "threads", "same-cpu")


def _told(progress: Progress, what: str, side: Side) -> Run | BareRun | float:
    progress(what)
    return side()


def _runs(taken: Sequence[Run | BareRun | float]) -> list[Run]:
    return [run for run in taken if isinstance(run, Run)]


def _compare(report: Report, cells: Mapping[Case, Cell], choice: Choice) -> None:
    """The ratios between cases; through a pipe without a suffix, since that is the published way."""
    together = choice.placements[0]
    for medium in dict.fromkeys(case.medium for case in cells):
        suffix = "" if medium == "pipe" else f"_{medium}"
        threads = Case(medium, "threads", together)
        if choice.farthest is not None:
            _ratio(
                report,
                f"cross_core_vs_same_core{suffix}",
                cells,
                Case(medium, "threads", choice.farthest),
                threads,
            )
        unpinned = Case(medium, "threads", Placement("unpinned"))
        _ratio(report, f"unpinned_vs_same_core{suffix}", cells, unpinned, threads)
        processes = Case(medium, "processes", together)
        _ratio(report, f"processes_vs_threads{suffix}", cells, processes, threads, _PROCESS_GOAL)


def _ratio(
    report: Report, name: str, cells: Mapping[Case, Cell], top: Case, bottom: Case, goal: Goal | None = None
) -> None:
    """Pairs the turns in which both count; says why if there are none."""
    if top not in cells or bottom not in cells:
        return
    above, below = cells[top].runs, cells[bottom].runs
    turns = sorted(above.keys() & below.keys())
    if not turns:
        lacking = cells[top] if cells[top].measured is None else cells[bottom]
        report.leave_out(name, f"{lacking.case} gave no figure")
        return
    report.compare(
        name,
        [above[turn].hand_over_ns for turn in turns],
        [below[turn].hand_over_ns for turn in turns],
        of="time",
        goal=goal if name == "processes_vs_threads" else None,
        published=RATIOS.get(name),
    )


def _compare_with_programs(
    report: Report, cells: Mapping[Case, Cell], taken: Mapping[str, Sequence[Run | BareRun | float]]
) -> None:
    """Ours over theirs, by what many rounds took: they have no clock in their loop."""
    for case, cell in cells.items():
        bare = [run for run in taken.get(f"bare {case}", ()) if isinstance(run, BareRun)]
        if bare and cell.runs:
            suffix = "" if case.parties == "threads" else "_processes"
            _compare_with_bare(report, f"same_core_vs_bare{suffix}", cell, bare)
        if _is_reference(case) and cell.runs:
            for name in PEERS.keys() & taken.keys():
                theirs = [value for value in taken[name] if isinstance(value, float)]
                report.add(name, "ns/switch", theirs, cpus=[case.placement.first])
                ours = {turn: run.wall_ns / run.rounds / 2 for turn, run in cell.runs.items()}
                report.compare(f"same_core_vs_{name}", *_paired(ours, theirs), of="time")


def _compare_with_bare(report: Report, name: str, cell: Cell, bare: Sequence[BareRun]) -> None:
    rounds = next(iter(cell.runs.values())).rounds
    facts = {"parties": cell.case.parties, "rounds": rounds, "cpus": [cell.case.placement.first]}
    report.add("bare_pingpong", "ns/switch", [run.tenth_ns * 10 / rounds / 2 for run in bare], **facts)
    goal = _BARE_GOAL if cell.case.parties == "threads" else None
    tenths = {turn: run.tenth_ns for turn, run in cell.runs.items()}
    report.compare(name, *_paired(tenths, [run.tenth_ns for run in bare]), of="time", goal=goal)
    cpu = {turn: float(run.cpu_ns) for turn, run in cell.runs.items()}
    theirs = [run.cpu_ns for run in bare if run.cpu_ns is not None]
    if len(theirs) == len(bare):
        report.compare(f"{name}_cpu", *_paired(cpu, theirs), of="CPU time")


def _paired(ours: Mapping[int, float], theirs: Sequence[float]) -> tuple[list[float], list[float]]:
    return list(ours.values()), [theirs[turn] for turn in ours]
