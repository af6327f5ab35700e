"""The whole of `bench priority`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

from unjank import UnjankError
from unjank.bench._cpus import require_usable, usable_cpus
from unjank.bench._majority import keep
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.priority._experiment import Experiment, Reading, check_nices, expected_shares, run_once
from unjank.bench.priority._verdict import judge
from unjank.cpu import Topology, read_topology

NICES = (-20, 0, 0, 0)
SECONDS = 1.0
_PUBLISHED_SHARE = 0.98  # of one core, for nice -20 against three at 0, as others measured it
_FAVOURED_GOAL = Goal(0.95)
_EQUAL_GOAL = Goal(0.03, at_least=False)

ByTurn = Mapping[int, Reading]
Run = Callable[[Experiment, float], Reading]


def run_priority(
    scale: Scale,
    progress: Progress,
    *,
    nices: Sequence[int] = NICES,
    seconds: float = SECONDS,
    cpu: int | None = None,
    topology: Topology | None = None,
    run: Run = run_once,
) -> Report:
    """Measures shares of CPU time.

    Args:
        scale: How much; each repetition of each experiment takes `seconds`, less in a quick run.
        progress: Told what comes next.
        nices: Nice values, one for each thread; the first one's share is `favoured_share`.
        seconds: How long the threads work.
        cpu: Where those bound to one CPU run; the last one this process may use by default.
        topology: The machine; read from it by default.
        run: Runs one experiment.

    Raises:
        UnjankError: The CPU or the nice values cannot be used.
    """
    topology = topology or read_topology()
    check_nices(nices)
    place = usable_cpus(topology)[-1] if cpu is None else cpu
    require_usable([place], topology)
    report = Report()
    experiments = _allowed(report, _experiments(tuple(nices), place, topology), run)
    length = max(0.05, seconds / scale.divisor)
    sides: dict[str, Callable[[], Reading]] = {
        e.name: partial(_told, progress, run, e, length) for e in experiments
    }
    taken = interleaved(sides, scale.repeats, collect=False)
    kept = {e: _keep(report, e, taken[e.name]) for e in experiments}
    _compare(report, {experiment.name: readings for experiment, readings in kept.items()}, tuple(nices))
    return report


def _experiments(nices: tuple[int, ...], cpu: int, topology: Topology) -> list[Experiment]:
    alike = (max(nices),) * len(nices)
    bound = [Experiment("favoured", nices, cpu), Experiment("equal", alike, cpu)]
    if len(usable_cpus(topology)) == 1:
        return bound
    return [*bound, Experiment("unbound", nices, None)]


def _allowed(report: Report, experiments: Sequence[Experiment], run: Run) -> list[Experiment]:
    """Those that the kernel lets start; of the others, the reason."""
    allowed = []
    for experiment in experiments:
        try:
            run(experiment, 0.0)
        except UnjankError as error:
            report.leave_out(f"priority {experiment.name}", str(error))
        else:
            allowed.append(experiment)
    if "unbound" not in {experiment.name for experiment in experiments}:
        report.leave_out("priority unbound", "this process may use one CPU only: all threads are bound to it")
    return allowed


def _told(progress: Progress, run: Run, experiment: Experiment, seconds: float) -> Reading:
    progress(f"{experiment.name}, {seconds:g} s")
    return run(experiment, seconds)


def _keep(report: Report, experiment: Experiment, readings: Sequence[Reading]) -> ByTurn:
    """Notes a share for each thread if most readings may be believed; answers these."""
    kept = keep(readings, lambda reading: judge(reading, experiment))
    report.judged(len(readings), kept.refusals)
    if kept.reason:
        report.leave_out(f"priority {experiment.name}", kept.reason)
        return {}
    expected = expected_shares(experiment.nices) if experiment.cpu is not None else None
    values = list(kept.readings.values())
    for thread, nice in enumerate(experiment.nices):
        report.add(
            "priority_share",
            "share",
            [reading.shares[thread] for reading in values],
            experiment=experiment.name,
            thread=thread,
            nice=nice,
            expected=expected[thread] if expected else None,
            cpu=experiment.cpu,
            cpus_seen=sorted({cpu for reading in values for cpu in reading.cpus[thread]}),
            cpu_share=median(reading.cpu_ns[thread] / reading.wall_ns for reading in values),
            cpus_used=median(reading.cpus_used for reading in values),
            seconds=median(reading.wall_ns for reading in values) / 1e9,
        )
    return kept.readings


def _compare(report: Report, kept: Mapping[str, ByTurn], nices: tuple[int, ...]) -> None:
    standard = nices == NICES
    if favoured := list(kept.get("favoured", {}).values()):
        report.compare(
            "favoured_share",
            [reading.cpu_ns[0] for reading in favoured],
            [sum(reading.cpu_ns) for reading in favoured],
            of="CPU time",
            goal=_FAVOURED_GOAL if standard else None,
            published=_PUBLISHED_SHARE if standard else None,
        )
    if equal := list(kept.get("equal", {}).values()):
        errors = [_error(reading) for reading in equal]
        report.compare("equal_share_error", errors, [1.0] * len(errors), of="CPU time", goal=_EQUAL_GOAL)
    bound, free = kept.get("favoured", {}), kept.get("unbound", {})
    if turns := sorted(bound.keys() & free.keys()):
        report.compare(
            "unbound_vs_bound_cpu_time",
            [free[turn].cpus_used for turn in turns],
            [bound[turn].cpus_used for turn in turns],
            of="CPU time",
        )


def _error(reading: Reading) -> float:
    """How far a thread's share is from an equal one, for the thread that is farthest."""
    return max(abs(share - 1 / len(reading.shares)) for share in reading.shares)
