"""`unjank bench pingpong`: what a hand-over between threads or processes costs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from unjank import UnjankError
from unjank.cli.bench._measure import Output, measure
from unjank.cli.bench._options import Json, Plot, Quick, Repeats

if TYPE_CHECKING:
    from unjank.bench.pingpong import Medium, Parties


class Through(StrEnum):
    """What the token goes through; those of `unjank.bench.pingpong.Medium`."""

    PIPE = "pipe"
    EVENTFD = "eventfd"
    FUTEX = "futex"


class Between(StrEnum):
    """Who passes it; those of `unjank.bench.pingpong.Parties`."""

    THREADS = "threads"
    PROCESSES = "processes"


def pingpong(
    through: Annotated[
        list[Through] | None, typer.Option(help="Only through this; may be repeated.", show_default="all")
    ] = None,
    between: Annotated[
        list[Between] | None, typer.Option(help="Only between these; may be repeated.", show_default="both")
    ] = None,
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="CPU,CPU", help="These CPUs instead of a pair of each kind; together: on the first."
        ),
    ] = None,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
    repeats: Repeats = 7,
) -> None:
    """Cost of a context switch and of a wake-up across cores; the kernel's counters tell which it was."""
    from unjank.bench import Scale
    from unjank.bench.pingpong import MEDIA, PARTIES, draw, run_pingpong, tables

    media: list[Medium] = [medium for medium in MEDIA if not through or Through(medium) in through]
    parties: list[Parties] = [party for party in PARTIES if not between or Between(party) in between]
    cpus = _pair(pair) if pair else None
    measure(
        "pingpong",
        lambda scale, say: run_pingpong(scale, say, media=media, parties=parties, pair=cpus),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
        show=tables,
        draw=draw,
    )


def _pair(text: str) -> tuple[int, int]:
    words = text.split(",")
    if len(words) != 2 or not all(word.strip().isdecimal() for word in words):
        raise UnjankError(f"'{text}' is not a pair of CPUs; write two numbers, as --pair 0,1")
    return int(words[0]), int(words[1])
