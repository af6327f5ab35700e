"""`unjank cpu boost`: speed for a while, everything put back afterwards."""

from typing import TYPE_CHECKING, Annotated

import typer

from unjank.cli._json_option import check_target
from unjank.cli._numbers import finite
from unjank.cli.cpu._command import ended_by_signals, run
from unjank.cli.cpu._options import MOST_SECONDS, Json, Pids, Tids, console, say, write_document
from unjank.cli.cpu._threads import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unjank.cpu import Boost, BoostPlan, BoostReport, ThreadRef
    from unjank.cpu.knobs import KnobState

Frequency = Annotated[
    str | None, typer.Option(metavar="FREQ", help="min, max, 1800MHz, or kHz without a unit.")
]


def boost(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="A program to run meanwhile.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--for",
            min=0.0,
            max=MOST_SECONDS,
            callback=finite,
            metavar="SECONDS",
            help="End after that time.",
        ),
    ] = None,
    governor: Annotated[str | None, typer.Option(metavar="NAME", help="Such as performance.")] = None,
    min_freq: Frequency = None,
    max_freq: Frequency = None,
    turbo: Annotated[bool | None, typer.Option("--turbo/--no-turbo", help="Turbo on or off.")] = None,
    wake_latency: Annotated[
        int | None,
        typer.Option(min=0, max=2**31 - 1, metavar="US", help="Keep out of deeper idle; 0: CPUs only poll."),
    ] = None,
    clamp: Annotated[
        int | None,
        typer.Option(min=0, max=1024, help="Least load that --tid and --pid show to the governor."),
    ] = None,
    tid: Tids = None,
    pid: Pids = None,
    perflock: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Qualcomm's resources, such as min_freq_big=4095."),
    ] = None,
    restore: Annotated[
        bool, typer.Option("--restore", help="Only put back what a killed boost has left.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only show the knobs and their values.")] = False,
    json: Json = None,
) -> int:
    """Turn the machine's knobs for speed, for a time, until Ctrl-C, or while a program runs.

    Without a choice of knobs, all there are, as fast as they go. What was is put back at the end, at Ctrl-C,
    and after a crash by the next boost or by --restore.
    """
    from unjank.cpu import FASTEST_PLAN, BoostPlan, CpuError

    check_target(json)
    if list_only:
        return _list(json)
    if restore:
        if command or seconds is not None:
            raise CpuError("--restore goes alone; a boost puts back what was left by itself")
        return _restore(json)
    plan = BoostPlan(
        governor=governor,
        min_frequency=min_freq,
        max_frequency=max_freq,
        turbo=turbo,
        clamp=clamp,
        threads=_clamped(clamp, tid, pid),
        wake_latency_us=wake_latency,
        perflock=_resources(perflock),
    )
    return _boost(FASTEST_PLAN if plan == BoostPlan() else plan, seconds, command or [], json)


def _clamped(clamp: int | None, tid: list[int] | None, pid: list[str] | None) -> "tuple[ThreadRef, ...]":
    from unjank.cpu import CpuError

    if clamp is None:
        if tid or pid:
            raise CpuError("--tid and --pid say whose load --clamp bounds; give --clamp too")
        return ()
    chosen = choose(tid, pid, None, None)
    return chosen.threads if chosen else ()


def _resources(words: "Sequence[str] | None") -> dict[str, int] | None:
    from unjank.cpu import CpuError

    found = {}
    for word in words or ():
        name, _, value = word.partition("=")
        try:
            found[name] = int(value, 0)
        except ValueError:
            raise CpuError(f"--perflock {word}: write NAME=VALUE, such as min_freq_big=4095") from None
    return found or None


def _boost(plan: "BoostPlan", seconds: float | None, command: list[str], json: str | None) -> int:
    from unjank.cpu import boost as start_boost

    code = 0
    with ended_by_signals(), start_boost(seconds, plan=plan) as boosting:
        _tell_start(boosting)
        if command:
            code = run(command)
        else:
            _wait(boosting, seconds)
    report = boosting.report
    if json is not None:
        write_document(_document(report), json)
    if json != "-":
        _print_frequencies(report)
    say("everything is put back")
    return code


def _wait(boosting: "Boost", seconds: float | None) -> None:
    until = f" for {seconds:g} s" if seconds is not None else ""
    try:
        say(f"boosting{until}; Ctrl-C ends it")
        boosting.wait()
    except KeyboardInterrupt:  # how it is meant to be ended
        say("")


def _tell_start(boosting: "Boost") -> None:
    report = boosting.report
    for entry in report.left:
        say(f"put back after a boost that was killed: {entry.knob} = {entry.value}")
    for turned in report.turned:
        say(f"{turned.knob}: {turned.before} -> {turned.after}")
    for held in report.held:
        say(f"{held}: held")
    for absent in report.absent:
        say(f"{absent.knob}: absent: {absent.reason}")


def _document(report: "BoostReport") -> dict[str, object]:
    from dataclasses import asdict

    frequencies = [
        {"cpu": cpu, "before": before, "during": report.during.get(cpu), "after": report.after.get(cpu)}
        for cpu, before in report.before.items()
    ]
    return {
        "schema": "unjank.cpu-boost/1",
        "turned": [asdict(turned) for turned in report.turned],
        "held": report.held,
        "absent": [asdict(absent) for absent in report.absent],
        "left": [asdict(entry) for entry in report.left],
        "khz": frequencies,
    }


def _print_frequencies(report: "BoostReport") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("cpu", "MHz before", "during", "after"):
        table.add_column(column, justify="right")
    for cpu in report.before:
        khz = [measured.get(cpu) for measured in (report.before, report.during, report.after)]
        table.add_row(str(cpu), *("-" if value is None else f"{value / 1000:.0f}" for value in khz))
    console().print(table)


def _restore(json: str | None) -> int:
    from dataclasses import asdict

    from unjank.cpu import restore_boost

    left = restore_boost()
    if json is not None:
        document = {"schema": "unjank.cpu-boost/1", "left": [asdict(entry) for entry in left]}
        write_document(document, json)
    for entry in left:
        say(f"put back: {entry.knob} = {entry.value}")
    if not left:
        say("nothing to put back: no boost was killed")
    return 0


def _value(state: "KnobState") -> str:
    if state.value is not None:
        return state.value or "off"  # of the performance lock, which nobody holds
    return "closed" if state.present else "absent"


def _list(json: str | None) -> int:
    from dataclasses import asdict

    from rich.markup import escape
    from rich.table import Table

    from unjank.cpu import KernelTree, find_thread
    from unjank.cpu.knobs import list_knobs
    from unjank.cpu.scheduler import KernelScheduler

    states = list_knobs(KernelTree(), KernelScheduler(), find_thread())
    if json is not None:
        write_document({"schema": "unjank.cpu-boost/1", "knobs": [asdict(state) for state in states]}, json)
    if json != "-":
        table = Table(box=None, pad_edge=False)
        for column in ("knob", "value", ""):
            table.add_column(column, overflow="fold")
        for state in states:
            table.add_row(state.name, _value(state), escape(state.reason))
        console().print(table)
    return 0
