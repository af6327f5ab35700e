"""`unjank bench heap`: the heap's comparator, with and without branches."""

from typing import Annotated

from unjank.cli.bench._measure import Output, check_parts, measure
from unjank.cli.bench._options import Json, Plot, Quick, Repeats, only

Only = Annotated[list[str] | None, only("time, mispredictions, cycles")]


def heap(
    json: Json = None, plot: Plot = None, quick: Quick = False, repeats: Repeats = 7, only: Only = None
) -> None:
    """The heap's comparator with and without branches: time, simulated mispredictions, estimated cycles."""
    from unjank.bench import Scale
    from unjank.bench.heap import PARTS, run_heap

    check_parts(PARTS, only)
    measure(
        "heap",
        lambda scale, say: run_heap(scale, say, only or ()),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
    )
