"""`unjank report`: what in a trace is bad, how bad, and what to do."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unjank.cli._engine import EngineChoice, ShellPath

EXIT_THRESHOLD_CROSSED = 1


class FailOn(StrEnum):
    """Severities that `--fail-on` takes, those of `unjank.findings.Severity`."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


def page_file(target: Path | None) -> Path | None:
    """Refuses `-`, which means standard output elsewhere; the report for people is there."""
    if target == Path("-"):
        raise typer.BadParameter("a page goes to a file; name one.")
    return target


def report(
    trace: Annotated[Path, typer.Argument(help="Trace file: Perfetto's, Android's, Chrome's, unjank's own.")],
    json: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-", help="Write the report as JSON too; '-' is standard output, then alone."
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the report as a page too, with pictures.", callback=page_file
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="Exit with 1 if a finding is as bad as this or worse.")
    ] = None,
    engine: EngineChoice = None,
    shell_path: ShellPath = None,
    top: Annotated[int, typer.Option(min=1, help="Number of findings of each kind to list.")] = 10,
) -> None:
    """Tell which threads of a trace waited, for whom, why, and what to do."""
    # Imported here: the engine and rich take a while, which the other commands need not wait for.
    from rich.console import Console

    from unjank.findings import Severity
    from unjank.report import document, lead_sentence, load_findings, render, write_document, write_page

    loaded = load_findings(
        trace,
        engine=engine.value if engine else None,
        shell_path=shell_path,
        with_page=html is not None,
    )
    survive_encodings()
    if json == "-":
        write_document(document(loaded.found, trace=str(trace), engine=loaded.engine), sys.stdout)
        typer.echo(lead_sentence(loaded.found), err=True)
    else:
        render(Console(highlight=False), loaded.found, trace=str(trace), top=top)
        if json:
            write_document(document(loaded.found, trace=str(trace), engine=loaded.engine), Path(json))
    if html and loaded.page is not None:
        write_page(loaded.page, html)
    if fail_on and (bad := loaded.found.at_least(Severity(fail_on))):
        typer.echo(f"unjank: {len(bad)} of severity {fail_on} or worse (--fail-on {fail_on})", err=True)
        raise typer.Exit(EXIT_THRESHOLD_CROSSED)


def survive_encodings() -> None:
    """Lets a stream whose encoding lacks a character, such as µ, show an escape instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
