"""`unjank doctor`: what this machine allows, and how to allow more."""

import json as json_format
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unjank import UnjankError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unjank.cli._machine import Check
    from unjank.record.sched import SchedLevels

SCHEMA = "unjank.doctor/1"
_MARKS = {"ok": "[green]ok[/]", "limited": "[yellow]limited[/]", "missing": "[red]missing[/]"}


def doctor(
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="Write it as JSON too; '-' is standard output, then alone."),
    ] = None,
) -> None:
    """Say what this machine allows, and how to allow more."""
    from unjank.cli._machine import all_checks
    from unjank.record.sched import probe

    levels = probe()
    checks = all_checks(levels)
    if json is not None:
        _write_json(_document(levels, checks), json)
    if json != "-":
        _print(levels, checks)


def _document(levels: "SchedLevels", checks: "Sequence[Check]") -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "scheduling": {"best": levels.best, "ftrace": asdict(levels.ftrace), "procfs": asdict(levels.procfs)},
        "checks": [asdict(check) for check in checks],
    }


def _write_json(document: dict[str, object], target: str) -> None:
    text = json_format.dumps(document, indent=2) + "\n"
    if target == "-":
        typer.echo(text, nl=False)
        return
    try:
        Path(target).write_text(text, encoding="ascii")
    except OSError as error:
        raise UnjankError(
            f"cannot write {target}: {error.strerror}; name another file with --json"
        ) from error


def _print(levels: "SchedLevels", checks: "Sequence[Check]") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for column in ("what", "", "found"):
        table.add_column(column, overflow="fold")
    for check in checks:
        table.add_row(check.name, _MARKS[check.status], escape(check.finding))
    console.print(table)
    console.print(f"\nA recording watches the scheduler with: [bold]{levels.best}[/]")
    remedies = [(check.name, check.remedy) for check in checks if check.remedy]
    if remedies:
        console.print("\nWhat would allow more")
    for name, remedy in remedies:
        console.print(f" - {name}: {escape(remedy)}", soft_wrap=True)
