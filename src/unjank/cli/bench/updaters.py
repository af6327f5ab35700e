"""`unjank bench updaters`: Atomic*FieldUpdaters against direct calls, on this machine's JVMs."""

from typing import Annotated

from unjank.cli.bench._measure import Output, check_parts, measure
from unjank.cli.bench._options import Json, Plot, Quick, Repeats, only

Only = Annotated[list[str] | None, only("operations, coroutines")]


def updaters(
    json: Json = None, plot: Plot = None, quick: Quick = False, repeats: Repeats = 7, only: Only = None
) -> None:
    """Java's Atomic*FieldUpdaters against the same calls made direct: -Xint, C1 and C2, on each JDK found."""
    from unjank.bench import Scale
    from unjank.bench.updaters import PARTS, run_updaters

    check_parts(PARTS, only)
    measure(
        "updaters",
        lambda scale, say: run_updaters(scale, say, only or ()),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
    )
