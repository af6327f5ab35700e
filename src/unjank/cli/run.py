"""`unjank run`: record a program, then say what its threads waited for."""

import errno
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from unjank import UnjankError
from unjank.cli.report import page_file
from unjank.record._session import Sched


def run(
    program: Annotated[str, typer.Argument(metavar="SCRIPT|MODULE", help="A script, or a module with -m.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARGS]…", help="For the program.")] = None,
    module: Annotated[bool, typer.Option("-m", help="Run a module, as python -m does.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The trace file. [default: PROGRAM.pftrace]")
    ] = None,
    sched: Annotated[Sched, typer.Option(help="How closely to watch the scheduler.")] = "auto",
    json_path: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Findings as JSON.")
    ] = None,
    html_path: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="The report as a page, with pictures.", callback=page_file
        ),
    ] = None,
) -> int:
    """Record a Python program and report what its threads waited for.

    The program runs as it would without: same arguments, streams, signals and exit code.
    """
    from unjank.record._run import Program, run_recorded

    for target in (json_path, html_path):
        _require_place(target)
    recorded = Program(program, arguments or [], module)
    path = output or _free_name(recorded.name)
    result = run_recorded(recorded, path, sched)
    for note in result.notes:
        typer.echo(f"unjank: {note}", err=True)
    if not result.started:
        if path.is_file():  # and not a device or pipe, which is not ours to remove
            path.unlink()
    elif result.recorded:
        _report(path, json_path, html_path)
    return result.exit_code


def _require_place(target: Path | None) -> None:
    """Refuses a report's file that cannot be there, before the program has run for it in vain."""
    if target is None:
        return
    try:
        is_folder = target.is_dir()
        target.parent.stat()
    except OSError as error:
        raise UnjankError(f"cannot write {target}: {error.strerror}; name another file") from error
    if is_folder:
        raise UnjankError(f"cannot write {target}: {os.strerror(errno.EISDIR)}; name another file")


def _report(path: Path, json_path: Path | None, html_path: Path | None) -> None:
    """Reports on standard error; should that fail, the program's exit code still counts."""
    try:
        _print_report(path, json_path, html_path)
    except (UnjankError, OSError) as error:
        typer.echo(f"unjank: no report: {error}", err=True)
    except KeyboardInterrupt:
        typer.echo(f"unjank: report interrupted; 'unjank report {shlex.quote(str(path))}' makes it", err=True)
    typer.echo(f"unjank: the trace is in {path}", err=True)


def _print_report(path: Path, json_path: Path | None, html_path: Path | None) -> None:
    from rich.console import Console

    from unjank.report import report_trace

    console = Console(stderr=True, highlight=False)
    report_trace(path, console=console, json_path=json_path, html_path=html_path)


def _free_name(program: str) -> Path:
    """`app.pftrace`, or `app-2.pftrace` where an earlier recording has that name."""
    stem = program.removesuffix(".py") or "program"
    path = Path(f"{stem}.pftrace")
    number = 2
    while path.exists():
        path = Path(f"{stem}-{number}.pftrace")
        number += 1
    return path
