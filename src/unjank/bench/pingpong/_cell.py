"""All repetitions of one case, and what may be said about them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unjank.bench._majority import most_often
from unjank.bench._report import Report
from unjank.bench._statistics import median_interval
from unjank.bench.pingpong._run import QUANTILES, Case, Run
from unjank.bench.pingpong._verdict import Measured, Verdict, judge


@dataclass(frozen=True)
class Cell:
    """One case with its repetitions.

    Attributes:
        case: What was measured.
        measured: The kind of hand-over; None: the case is refused.
        reason: Why it is refused; empty otherwise.
        runs: The repetitions that count, by their turn.
        refusals: Why each of the others does not count.
    """

    case: Case
    measured: Measured | None
    reason: str
    runs: Mapping[int, Run]
    refusals: tuple[str, ...]


def gather(case: Case, runs: Sequence[Run]) -> Cell:
    """Keeps the repetitions of the kind that most of them measured; without a majority, refuses the case."""
    verdicts = [judge(run, case.placement) for run in runs]
    kinds = Counter(verdict.measured for verdict in verdicts if verdict.measured)
    kind = max(kinds, key=lambda measured: kinds[measured], default=None)
    if kind is None or 2 * kinds[kind] <= len(runs):
        return Cell(case, None, _why(verdicts, kinds), {}, tuple(map(_refusal, verdicts)))
    kept = {turn: run for turn, run in enumerate(runs) if verdicts[turn].measured == kind}
    others = (_refusal(verdict) for verdict in verdicts if verdict.measured != kind)
    return Cell(case, kind, "", kept, tuple(others))


def _refusal(verdict: Verdict) -> str:
    return verdict.reason or f"it measured a {verdict.measured}, as most of the same case did not"


def _why(verdicts: Sequence[Verdict], kinds: Mapping[Measured, int]) -> str:
    spoken = [f"{count} measured a {kind}" for kind, count in kinds.items()]
    bad = [verdict.reason for verdict in verdicts if verdict.reason]
    if bad:
        spoken.append(f"{len(bad)} are refused, as: {most_often(bad)}")
    return f"of {len(verdicts)} repetitions, {', '.join(spoken)}"


def note(cell: Cell, report: Report) -> None:
    """Adds the case to the report: one figure per repetition, with the distribution and the counters."""
    case, where = cell.case, cell.case.placement
    report.judged(len(cell.runs) + len(cell.refusals), cell.refusals)
    if cell.measured is None:
        report.leave_out(f"pingpong {case}", cell.reason)
        return
    runs = list(cell.runs.values())
    report.add(
        "pingpong",
        "ns/switch" if cell.measured == "context switch" else "ns/hand-over",
        [run.hand_over_ns for run in runs],
        medium=case.medium,
        parties=case.parties,
        placement=where.name,
        cpus=[where.first, where.second] if where.pinned else None,
        measured=cell.measured,
        rounds=runs[0].rounds,
        refused=len(cell.refusals),
        mean=_median([run.wall_ns / run.rounds / 2 for run in runs]),
        quantiles={name: _median([run.quantiles_ns[name] / 2 for run in runs]) for name in QUANTILES},
        counters=_counters(runs),
    )


def _counters(runs: Sequence[Run]) -> dict[str, object]:
    """The proof, over all repetitions that count."""
    sides = [side for run in runs for side in (run.caller, run.echo)]
    migrations = [side.migrations for side in sides]
    return {
        "voluntary": sum(side.voluntary for side in sides),
        "involuntary": sum(side.involuntary for side in sides),
        "migrations": None if None in migrations else sum(filter(None, migrations)),
        "cpus_seen": sorted({cpu for side in sides for cpu in side.cpus}),
        "rounds": sum(run.rounds for run in runs),
        "rounds_apart": sum(run.rounds_apart for run in runs),
        "switches_per_round": _median([run.switches_per_round for run in runs]),
        "cpu_share": _median([run.cpu_ns / run.wall_ns for run in runs]),
    }


def _median(values: Sequence[float]) -> float:
    return median_interval(values).median
