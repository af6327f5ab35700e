"""What each command of `unjank bench` does: look for mistakes, measure, write the figures."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from unjank import UnjankError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from unjank.bench import Progress, Report, Scale

    Runner = Callable[[Scale, Progress], Report]
    Show = Callable[["Document"], Iterable[RenderableType]]

Document = dict[str, Any]

_TABLE_WIDTH = 120  # names of ratios are to be copied: they are not folded
_PACKAGES = ("unjank", "culsans", "matplotlib")


@dataclass(frozen=True)
class Output:
    """Where figures go besides the terminal.

    Attributes:
        json: File for the JSON; "-" is standard output, which then has nothing else.
        plot: File for the picture.
    """

    json: str | None
    plot: Path | None

    def check(self) -> None:
        """Finds mistakes before minutes are spent on measuring.

        Raises:
            UnjankError: A file cannot be written there, or nothing can be drawn.
        """
        from unjank.bench import require_plotting

        if self.plot:
            require_plotting(self.plot)
        for option, target in (("--json", self.json), ("--plot", self.plot)):
            if target and target != "-" and not Path(target).absolute().parent.is_dir():
                folder = Path(target).absolute().parent
                raise UnjankError(
                    f"cannot write {target}: there is no folder {folder}; make it, or change {option}"
                )


def check_parts(parts: Iterable[str], only: Iterable[str] | None) -> None:
    """Whether `--only` names parts that exist.

    Raises:
        UnjankError: It does not.
    """
    unknown = sorted(set(only or ()) - set(parts))
    if unknown:
        raise UnjankError(f"there is no part {', '.join(unknown)}; --only takes {', '.join(parts)}")


def measure(
    name: str,
    run: "Runner",
    scale: "Scale",
    output: Output,
    *,
    show: "Show | None" = None,
    draw: Callable[[Document, Path], None] | None = None,
) -> None:
    """Measures, then prints the figures and writes them.

    Args:
        name: Of the benchmark.
        run: What measures.
        scale: How much.
        output: Where to besides the terminal.
        show: Makes the benchmark's own tables, printed before that of the ratios.
        draw: Makes the picture; otherwise ratios are drawn.
    """
    from unjank.bench import Watch, document, machine_facts, plot, write_document

    output.check()
    machine = machine_facts(_PACKAGES)
    watch = Watch()
    report = run(scale, _say)
    content = document(name, report, machine | {"during": watch.facts()}, scale)
    _end_progress()
    if output.json == "-":
        write_document(content, sys.stdout)
    else:
        _print(content, show)
        if output.json:
            write_document(content, Path(output.json))
    if output.plot:
        (draw or plot)(content, output.plot)


def _say(what: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r\x1b[K{what} …", nl=False, err=True)


def _end_progress() -> None:
    if sys.stderr.isatty():
        typer.echo("\r\x1b[K", nl=False, err=True)


def _print(content: Document, show: "Show | None") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.width = max(console.width, _TABLE_WIDTH)
    machine = content["machine"]
    threads = "with the GIL" if machine["gil"] else "free-threaded"
    console.print(f"{machine['cpu']}, {machine['cpus']} CPUs, Python {machine['python']} {threads}\n")
    for shown in show(content) if show else ():
        console.print(shown)
        if not isinstance(shown, Text):  # a heading
            console.print()
    if content["ratios"]:
        console.print(_ratio_table(content))
    for item in content["absent"]:
        typer.echo(f"absent: {item['name']}: {item['reason']}", err=True)
    for warning in content["warnings"]:
        typer.echo(f"warning: {warning}", err=True)


def _ratio_table(content: Document) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("ratio", no_wrap=True)
    for column in ("median", "low", "high"):
        table.add_column(column, justify="right")
    table.add_column("of")
    table.add_column("goal")
    for name, about in content["ratios"].items():
        figures = [f"{about[key]:.4g}" for key in ("median", "low", "high")]
        table.add_row(name, *figures, about["of"], _goal(about))
    return table


def _goal(about: dict[str, Any]) -> str:
    if "goal" not in about:
        return ""
    signs = {"at_least": "≥", "at_most": "≤"}
    bounds = " ".join(f"{signs[kind]} {bound:.4g}" for kind, bound in about["goal"].items())
    verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: "not judged"}[about["met"]]
    return f"{bounds}, {verdict}"
