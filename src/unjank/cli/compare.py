"""`unjank compare`: the findings of two traces side by side."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from unjank.cli._engine import EngineChoice, ShellPath
from unjank.cli.report import EXIT_THRESHOLD_CROSSED, FailOn


def compare(
    before: Annotated[Path, typer.Argument(help="Trace to compare with.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="Trace that is compared.", show_default=False)],
    json: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-", help="Write the comparison as JSON too; '-' is standard output, then alone."
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 1 if something new or worse is as bad as this or worse.")
    ] = None,
    engine: EngineChoice = None,
    shell_path: ShellPath = None,
    top: Annotated[int, typer.Option(min=1, help="Number of entries of each change to list.")] = 10,
) -> None:
    """Tell what is new, worse, better and gone in a trace, compared with another one."""
    # Imported here: the engine and rich take a while, which the other commands need not wait for.
    from rich.console import Console

    from unjank.cli.report import survive_encodings
    from unjank.findings import Severity
    from unjank.report import write_document
    from unjank.report.compare import (
        compare_traces,
        comparison_document,
        lead,
        regressions,
        render_comparison,
    )

    first, second, comparisons = compare_traces(
        before, after, engine=engine.value if engine else None, shell_path=shell_path
    )
    survive_encodings()
    if json == "-":
        write_document(comparison_document(first, second, comparisons), sys.stdout)
        typer.echo(lead(comparisons), err=True)
    else:
        render_comparison(Console(highlight=False), first, second, comparisons, top=top)
        if json:
            write_document(comparison_document(first, second, comparisons), Path(json))
    if fail_on and (bad := regressions(comparisons, Severity(fail_on))):
        typer.echo(f"unjank: {len(bad)} new or worse of severity {fail_on} or worse", err=True)
        raise typer.Exit(EXIT_THRESHOLD_CROSSED)
