"""`unjank bench`: measurements of this machine and of what unjank builds on, one command each."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unjank import UnjankError

if TYPE_CHECKING:
    from unjank.bench import Progress, Report, Scale

    Runner = Callable[[Scale, Progress, Iterable[str]], Report]

bench = typer.Typer(
    name="bench",
    help="Measure queues, wake-ups and heaps on this machine, as ratios within one run.",
    no_args_is_help=True,
)

_TABLE_WIDTH = 110  # names of ratios are to be copied: they are not folded
_PACKAGES = ("unjank", "culsans", "matplotlib")

Json = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write all figures as JSON; '-' is standard output, then alone."),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the figures: FILE.svg, .png or .pdf.")]
Quick = Annotated[bool, typer.Option("--quick", help="A hundredth of everything: only shows that it works.")]
Repeats = Annotated[int, typer.Option(min=1, help="Repetitions of each pair.")]
Only = Annotated[list[str] | None, typer.Option(metavar="PART", help="Only this part; may be repeated.")]


@bench.command()
def queue(
    json: Json = None, plot: Plot = None, quick: Quick = False, repeats: Repeats = 7, only: Only = None
) -> None:
    """Looper queue against its predecessor, queue.PriorityQueue, SimpleQueue, heapq, asyncio and culsans."""
    from unjank.bench.queue import PARTS, run_queue

    _run("queue", run_queue, PARTS, json=json, plot=plot, quick=quick, repeats=repeats, only=only)


@bench.command()
def heap(
    json: Json = None, plot: Plot = None, quick: Quick = False, repeats: Repeats = 7, only: Only = None
) -> None:
    """The heap's comparator with and without branches: time, simulated mispredictions, estimated cycles."""
    from unjank.bench.heap import PARTS, run_heap

    _run("heap", run_heap, PARTS, json=json, plot=plot, quick=quick, repeats=repeats, only=only)


def _run(
    name: str,
    run: "Runner",
    parts: Iterable[str],
    *,
    json: str | None,
    plot: Path | None,
    quick: bool,
    repeats: int,
    only: list[str] | None,
) -> None:
    from unjank.bench import Scale, document, machine_facts, write_document
    from unjank.bench import plot as draw

    _check_before(list(parts), only, json, plot)
    scale = Scale.quick() if quick else Scale(repeats)
    machine = machine_facts(_PACKAGES)
    content = document(name, run(scale, _say, only or ()), machine, scale)
    if json == "-":
        write_document(content, sys.stdout)
    else:
        _print(content)
        if json:
            write_document(content, Path(json))
    if plot:
        draw(content, plot)


def _check_before(parts: list[str], only: list[str] | None, json: str | None, plot: Path | None) -> None:
    """Finds mistakes before minutes are spent on measuring."""
    from unjank.bench import require_plotting

    unknown = sorted(set(only or ()) - set(parts))
    if unknown:
        raise UnjankError(f"there is no part {', '.join(unknown)}; --only takes {', '.join(parts)}")
    if plot:
        require_plotting(plot)
    for option, target in (("--json", json), ("--plot", plot)):
        if target and target != "-" and not Path(target).absolute().parent.is_dir():
            folder = Path(target).absolute().parent
            raise UnjankError(
                f"cannot write {target}: there is no folder {folder}; make it, or change {option}"
            )


def _say(what: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r\x1b[K{what} …", nl=False, err=True)


def _print(content: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.width = max(console.width, _TABLE_WIDTH)
    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)
    machine = content["machine"]
    threads = "with the GIL" if machine["gil"] else "free-threaded"
    console.print(f"{machine['cpu']}, {machine['cpus']} CPUs, Python {machine['python']} {threads}\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("ratio", no_wrap=True)
    for column in ("median", "low", "high"):
        table.add_column(column, justify="right")
    table.add_column("of")
    table.add_column("goal")
    for name, about in content["ratios"].items():
        figures = [f"{about[key]:.4g}" for key in ("median", "low", "high")]
        table.add_row(name, *figures, about["of"], _goal(about))
    console.print(table)
    for item in content["absent"]:
        typer.echo(f"absent: {item['name']}: {item['reason']}", err=True)
    for warning in content["warnings"]:
        typer.echo(f"warning: {warning}", err=True)


def _goal(about: dict[str, Any]) -> str:
    if "goal" not in about:
        return ""
    ((kind, bound),) = about["goal"].items()
    sign = "≥" if kind == "at_least" else "≤"
    verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: "not judged"}[about["met"]]
    return f"{sign} {bound:.4g}, {verdict}"
