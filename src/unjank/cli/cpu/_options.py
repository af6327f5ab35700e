"""Options and small helpers that the commands share."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unjank.cli._numbers import finite

if TYPE_CHECKING:
    from rich.console import Console

MOST_SECONDS = 86_400.0  # a day; sleeps do not take any number
_TABLE_WIDTH = 140  # where there is no terminal that has a width of its own

Json = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write it as JSON; '-' is standard output, then alone."),
]
Tids = Annotated[list[int] | None, typer.Option("--tid", metavar="TID", help="One thread; may be repeated.")]
Pids = Annotated[
    list[str] | None,
    typer.Option("--pid", metavar="PID|NAME", help="All threads of a process; may be repeated."),
]
Name = Annotated[
    str | None, typer.Option(metavar="PATTERN", help="Of the processes, only threads of that name; * and ?.")
]
For = Annotated[
    float | None,
    typer.Option(
        "--for",
        min=0.0,
        callback=finite,
        metavar="SECONDS",
        help="Put it back after that time, or at Ctrl-C.",
    ),
]
Watch = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=MOST_SECONDS,
        callback=finite,
        metavar="SECONDS",
        help="How long to watch whether it works; 0 does not.",
    ),
]
Command = Annotated[
    list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="Instead: a program to run so.")
]


def write_document(content: Mapping[str, Any], target: str) -> None:
    """Writes one object to a file, or to standard output for `-`."""
    from unjank._json_file import write_json

    write_json(content, sys.stdout if target == "-" else Path(target), indent=1)


def console() -> "Console":
    """Where tables go: as wide as the terminal, or as the tables are."""
    from rich.console import Console

    made = Console(highlight=False)
    if not sys.stdout.isatty():
        made.width = max(made.width, _TABLE_WIDTH)
    return made


def say(text: str) -> None:
    """Words for people."""
    typer.echo(text, err=True)
