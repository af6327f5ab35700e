"""`unjank bench atomics`: locks, compare-and-swap loops and fetch-add."""

from typing import Annotated

import typer

from unjank.cli.bench._measure import Output, measure
from unjank.cli.bench._options import Cpus, Json, Plot, Quick, Repeats, chosen_cpus


def atomics(
    cpus: Cpus = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, help="The most threads; beyond the CPUs they share them.", show_default="CPUs"
        ),
    ] = None,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
    repeats: Repeats = 7,
) -> None:
    """Threads that count at once: lock against CAS loop against fetch-add; ARM64: LL/SC against LSE."""
    from unjank.bench import Scale
    from unjank.bench.atomics import draw, run_atomics, tables

    chosen = chosen_cpus(cpus)
    measure(
        "atomics",
        lambda scale, say: run_atomics(scale, say, cpus=chosen, threads=threads),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
        show=tables,
        draw=draw,
    )
