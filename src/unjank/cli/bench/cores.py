"""`unjank bench cores`: latency between each two CPUs."""

from typing import Annotated

import typer

from unjank.cli.bench._measure import Output, measure
from unjank.cli.bench._options import Cpus, Json, Plot, Quick, Repeats, chosen_cpus


def cores(
    cpus: Cpus = None,
    pairs: Annotated[
        int, typer.Option(min=1, help="Beyond as many pairs, measure a sample of each kind.")
    ] = 2_000,
    json: Json = None,
    plot: Plot = None,
    quick: Quick = False,
    repeats: Repeats = 7,
) -> None:
    """Latency between each two CPUs, as a heat map: how long a cache line takes that another has written."""
    from unjank.bench import Scale
    from unjank.bench.cores import draw, run_cores, tables

    chosen = chosen_cpus(cpus)
    measure(
        "cores",
        lambda scale, say: run_cores(scale, say, cpus=chosen, most_pairs=pairs),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
        show=tables,
        draw=draw,
    )
