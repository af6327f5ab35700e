"""`unjank cpu place`: which threads belong together, and whether that helps."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unjank.cli._json_option import check_target
from unjank.cli._numbers import finite
from unjank.cli.cpu._command import ended_by_signals
from unjank.cli.cpu._options import MOST_SECONDS, Json, console, say, write_document
from unjank.cli.cpu._threads import process_ids

if TYPE_CHECKING:
    from unjank.cpu.place import Measured, Outcome, Plan, WakeGraph

_EDGES_SHOWN = 10


def place(
    targets: Annotated[
        list[str], typer.Argument(metavar="PID|NAME…|TRACE", help="Running processes, or one trace file.")
    ],
    seconds: Annotated[
        float,
        typer.Option(min=0.1, max=MOST_SECONDS, callback=finite, help="How long to watch running processes."),
    ] = 3.0,
    pid: Annotated[
        list[int] | None,
        typer.Option(metavar="PID", help="Of the trace; the one with most wake-ups otherwise."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Try the plan, and keep it only if it is better.")
    ] = False,
    rate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file in which the program counts what it has done."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Measurements with and without, in turn.")] = 3,
    tight: Annotated[
        float,
        typer.Option(min=1.0, callback=finite, help="Wake-ups a second from which on threads share a CPU."),
    ] = 1_000.0,
    json: Json = None,
) -> None:
    """Tell from who wakes whom which threads belong on one CPU or in one cache cluster, and why.

    Watching running processes takes root: the kernel's scheduling is recorded. With --apply the plan is
    measured against what is: switches, wake-ups to other CPUs, and the program's rate.
    """
    from unjank.cpu.place import Limits, make_plan, try_plan

    check_target(json)
    trace = _trace_of(targets, apply=apply)
    usual = Limits()
    limits = Limits(
        tight_per_s=tight,
        related_per_s=min(tight, usual.related_per_s),
        crossed_per_s=min(tight, usual.crossed_per_s),
    )
    counter = _counter(rate, apply=apply)
    with ended_by_signals():
        plan = make_plan(*_graph(targets, trace, pid, seconds), limits=limits)
        outcome = None
        if json != "-":
            _print_plan(plan)
        if apply and plan.placements:
            say(f"trying it: {rounds} times {2 * seconds:g} s")
            outcome = try_plan(plan, seconds, rounds, counter)
    if outcome is not None and json != "-":
        _print_outcome(outcome)
    if json is not None:
        write_document(_document(plan, outcome), json)


def _trace_of(targets: list[str], *, apply: bool) -> Path | None:
    """The trace file, if it is one that is meant."""
    from unjank.cpu import CpuError

    files = [Path(target) for target in targets if not target.isdecimal() and Path(target).is_file()]
    if not files:
        return None
    if len(targets) > 1:
        raise CpuError("give running processes, or one trace file, not both")
    if apply:
        raise CpuError("--apply needs a running process: a trace is over; give its id")
    return files[0]


def _graph(
    targets: list[str], trace: Path | None, pid: list[int] | None, seconds: float
) -> tuple["WakeGraph", Any]:
    from unjank.cpu import read_topology, threads_of
    from unjank.cpu.place import read_trace, record_wakeups

    if trace is not None:
        return read_trace(trace, pid or ()), None
    pids = _processes(targets)
    for each in pids:
        threads_of(each)  # one that is not there is told before anything is recorded
    say(f"watching process {', '.join(map(str, pids))} for {seconds:g} s")
    return record_wakeups(pids, seconds), read_topology()


def _processes(targets: list[str]) -> list[int]:
    from unjank.cpu import CpuError

    try:
        return process_ids(targets)
    except CpuError as error:
        raise CpuError(f"{error}; there is no trace file of that name either") from error


def _counter(rate: Path | None, *, apply: bool) -> Any:  # noqa: ANN401  unjank.cpu.place.trial.Counter or None
    from unjank.cpu import CpuError
    from unjank.cpu.place import read_counter

    if rate is None:
        return None
    if not apply:
        raise CpuError("--rate is what --apply judges by; give that too")
    return read_counter(rate)


def _print_plan(plan: "Plan") -> None:
    from rich.markup import escape
    from rich.table import Table

    from unjank.cpu import format_cpu_list

    graph, screen = plan.graph, console()
    per_s, crossed = sum(e.per_s for e in graph.edges), sum(e.crossed_per_s for e in graph.edges)
    counted = f"{per_s:,.0f} wake-ups among them a second, {crossed:,.0f} of these to another CPU"
    screen.print(f"{len(graph.members)} threads ran, {counted}\n", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column, side in (("wakes", "left"), ("", "left"), ("per s", "right"), ("to another CPU", "right")):
        table.add_column(column, justify="right" if side == "right" else "left")
    for edge in graph.edges[:_EDGES_SHOWN]:
        waker, woken = graph.members[edge.waker], graph.members[edge.woken]
        share = edge.crossed_per_s / edge.per_s
        table.add_row(escape(str(waker)), escape(str(woken)), f"{edge.per_s:,.0f}", f"{share:.0%}")
    screen.print(table)
    for placement in plan.placements:
        names = ", ".join(map(str, placement.members))
        screen.print(f"\nCPU {format_cpu_list(placement.cpus)}: {names}", markup=False, soft_wrap=True)
        screen.print(f"  {placement.reason}", markup=False, soft_wrap=True)
    for reason in plan.left:
        screen.print(f"\nas it is: {reason}", markup=False, soft_wrap=True)
    if not plan.placements and not plan.left:
        screen.print("\nnothing to do: no threads wake each other often enough to belong together")


def _print_outcome(outcome: "Outcome") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("", "before", "with the plan"):
        table.add_column(column, justify="left" if not column else "right")
    for name, value in _figures(outcome):
        table.add_row(name, value(outcome.before), value(outcome.after))
    screen = console()
    screen.print()
    screen.print(table)
    screen.print(f"\n{'kept' if outcome.kept else 'put back'}: {outcome.reason}", soft_wrap=True)


def _figures(outcome: "Outcome") -> list[tuple[str, Any]]:
    rate = "what it counts, per s" if outcome.rate_of == "counter" else "hand-overs per s"

    def of(name: str) -> Any:  # noqa: ANN401  a function of Measured
        return lambda measured: f"{getattr(measured, name):,.0f}"

    def load(measured: "Measured") -> str:
        return f"{measured.load:.2f}"

    return [
        (rate, of("rate")),
        ("switches per s", of("switches")),
        ("wake-ups per s", of("wakeups")),
        ("to another CPU", of("crossed")),
        ("CPUs used", load),
    ]


def _document(plan: "Plan", outcome: "Outcome | None") -> dict[str, Any]:
    from dataclasses import asdict

    from unjank.cpu import format_cpu_list

    graph = plan.graph
    return {
        "schema": "unjank.cpu-place/1",
        "seconds": round(graph.seconds, 3),
        "threads": [
            {"pid": m.pid, "tid": m.tid, "name": m.name, "load": round(m.load, 4)}
            for m in graph.members.values()
        ],
        "wakeups": [
            {
                "waker": graph.members[edge.waker].tid,
                "woken": graph.members[edge.woken].tid,
                "per_s": round(edge.per_s, 1),
                "crossed_per_s": round(edge.crossed_per_s, 1),
            }
            for edge in graph.edges
        ],
        "placements": [
            {
                "cpus": format_cpu_list(placement.cpus),
                "shares": placement.shares,
                "tids": [member.tid for member in placement.members],
                "reason": placement.reason,
            }
            for placement in plan.placements
        ],
        "left": list(plan.left),
        "spared_per_s": round(plan.spared_per_s, 1),
        "trial": None if outcome is None else asdict(outcome),
    }
