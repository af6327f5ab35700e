"""`unjank bench priority`: shares of a CPU by nice value."""

from typing import Annotated

import typer

from unjank import UnjankError
from unjank.cli._numbers import finite
from unjank.cli.bench._measure import Output, measure
from unjank.cli.bench._options import Json, Plot, Quick, Repeats


def priority(
    nices: Annotated[
        str,
        typer.Option(metavar="NICE,…", help="A nice value for each thread; the first is the favoured one's."),
    ] = "-20,0,0,0",
    seconds: Annotated[
        float, typer.Option(min=0.1, max=60, callback=finite, help="How long each repetition works.")
    ] = 1.0,
    cpu: Annotated[
        int | None, typer.Option(min=0, help="Where they are bound to.", show_default="the last usable one")
    ] = None,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
    repeats: Repeats = 7,
) -> None:
    """Busy threads on one CPU, at given nice values, at equal ones, and bound to none: who gets how much."""
    from unjank.bench import Scale
    from unjank.bench.priority import draw, run_priority, tables

    wanted = _numbers(nices)
    measure(
        "priority",
        lambda scale, say: run_priority(scale, say, nices=wanted, seconds=seconds, cpu=cpu),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
        show=tables,
        draw=draw,
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise UnjankError(
            f"'{text}' is not a list of nice values; write numbers, as --nices=-20,0,0,0"
        ) from None
