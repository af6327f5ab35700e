"""`unjank bench compare`: two runs of a benchmark."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unjank.cli._numbers import finite
from unjank.cli.bench._options import Json

if TYPE_CHECKING:
    from unjank.bench.compare import Comparison

EXIT_THRESHOLD_CROSSED = 1


def compare(
    before: Annotated[
        Path, typer.Argument(metavar="A.json", help="The first run: unjank bench NAME --json A.json.")
    ],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="The second run.")],
    json: Json = None,
    everything: Annotated[bool, typer.Option("--all", help="Also list results that are the same.")] = False,
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0,
            callback=finite,
            metavar="PERCENT",
            help="Exit with 1 if a figure got worse by more than this.",
        ),
    ] = None,
) -> None:
    """Tell what changed between two runs of a benchmark, beyond what repetitions differ anyway."""
    from unjank._json_file import write_json
    from unjank.bench.compare import compare as compare_runs
    from unjank.bench.compare import load

    comparison = compare_runs(load(before), load(after))
    if json == "-":
        write_json(comparison.to_dict(), sys.stdout, indent=1)
    else:
        _print(comparison, everything=everything)
        if json:
            write_json(comparison.to_dict(), Path(json), indent=1)
    worse = [] if fail_above is None else comparison.worse_by(fail_above)
    if worse:
        count = "1 figure" if len(worse) == 1 else f"{len(worse)} figures"
        typer.echo(f"unjank: {count} got worse by more than {fail_above:g} %", err=True)
        raise typer.Exit(EXIT_THRESHOLD_CROSSED)


def _print(comparison: "Comparison", *, everything: bool) -> None:
    from rich.console import Console

    from unjank.bench.compare import tables

    console = Console(highlight=False)
    console.width = max(console.width, 150)  # labels are to be copied: they are not folded
    for table in tables(comparison, everything=everything):
        console.print(table)
        console.print()
    verdicts = [change.verdict for change in comparison.changes]
    counts = ", ".join(
        f"{verdicts.count(v)} {v}" for v in ("same", "better", "worse", "changed") if v in verdicts
    )
    typer.echo(f"{len(verdicts)} figures in both: {counts or 'none'}")
    for warning in comparison.warnings:
        typer.echo(f"warning: {warning}", err=True)
