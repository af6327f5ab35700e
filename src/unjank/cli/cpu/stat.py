"""`unjank cpu stat`: what each thread of a process does, live."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import count as numbers
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unjank.cli._json_option import check_target
from unjank.cli._numbers import finite
from unjank.cli.cpu._options import MOST_SECONDS, Json, console, say, write_document
from unjank.cli.cpu._threads import one_process

if TYPE_CHECKING:
    from unjank.cpu.stat import Rates, StormLimits


_LINES_AROUND = 4  # title, heads, what is left out, and the cursor's own line


class Order(StrEnum):
    """What threads are sorted by, those of `unjank.cpu.stat.view`."""

    CPU = "cpu"
    WAIT = "wait"
    SWITCHES = "switches"
    MIGRATIONS = "migrations"
    TID = "tid"


def stat(
    process: Annotated[str, typer.Argument(metavar="PID|NAME", help="The process.")],
    interval: Annotated[
        float,
        typer.Option(
            min=0.05, max=MOST_SECONDS, callback=finite, metavar="SECONDS", help="Time between samples."
        ),
    ] = 1.0,
    samples: Annotated[
        int | None, typer.Option("--count", min=1, help="End after that many samples.", show_default="never")
    ] = None,
    sort: Annotated[Order, typer.Option(help="Busiest by what.")] = Order.CPU,
    top: Annotated[int, typer.Option(min=1, help="Number of threads to show.")] = 40,
    storm: Annotated[
        float,
        typer.Option(min=1.0, callback=finite, help="Switches a second from which on a thread is marked."),
    ] = 10_000.0,
    json: Json = None,
) -> None:
    """Show switches, CPU share, waiting, migrations and placement of each thread, until Ctrl-C.

    Shares and counts are those of the time between two samples. Marked are threads that switch more than they
    work, that are moved all the time, and that wait for a CPU more than half of their time.
    """
    from unjank.cpu.stat import StormLimits

    check_target(json)
    pid = one_process(process)
    taken: list[Rates] = []
    with _shown(sort.value, top, hidden=json == "-") as show:
        try:
            for rates in _sampled(pid, interval, samples, StormLimits(switches=storm)):
                taken.append(rates)
                show(rates)
        except KeyboardInterrupt:  # how it is meant to be ended
            say("")
    if json is not None:
        write_document(_document(pid, taken), json)


def _sampled(pid: int, interval: float, samples: int | None, limits: "StormLimits") -> "Iterator[Rates]":
    from unjank.cpu import ThreadGoneError
    from unjank.cpu.stat import ThreadReader, compare

    with ThreadReader(pid) as reader:
        before = reader.read()
        for number in numbers(1):
            time.sleep(interval)
            try:
                now = reader.read()
            except ThreadGoneError as error:
                say(str(error))
                return
            yield compare(before, now, limits)
            if number == samples:
                return
            before = now


@contextmanager
def _shown(order: Any, top: int, *, hidden: bool) -> "Iterator[Callable[[Rates], None]]":  # noqa: ANN401
    """How samples are shown: redrawn on a terminal, one below the other elsewhere."""
    from rich.live import Live

    from unjank.cpu.stat.view import table

    screen = console()
    if hidden:
        yield lambda _: None
    elif sys.stdout.isatty():
        with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
            rows = min(top, max(screen.height - _LINES_AROUND, 1))
            yield lambda rates: live.update(table(rates, order, rows), refresh=True)
    else:
        yield lambda rates: screen.print(table(rates, order, top))


def _document(pid: int, taken: "list[Rates]") -> dict[str, Any]:
    from unjank.cpu.stat.view import document

    return {"schema": "unjank.cpu-stat/1", "pid": pid, "samples": [document(rates) for rates in taken]}
