"""`unjank bench queue`: the looper's queue against what it replaces."""

from typing import Annotated

from unjank.cli.bench._measure import Output, check_parts, measure
from unjank.cli.bench._options import Json, Plot, Quick, Repeats, only

Only = Annotated[
    list[str] | None,
    only("insertion, growth, removal, wake, post-delayed, post, end-to-end, cancelling, idle"),
]


def queue(
    json: Json = None, plot: Plot = None, quick: Quick = False, repeats: Repeats = 7, only: Only = None
) -> None:
    """Looper queue against its predecessor, queue.PriorityQueue, SimpleQueue, heapq, asyncio and culsans."""
    from unjank.bench import Scale
    from unjank.bench.queue import PARTS, run_queue

    check_parts(PARTS, only)
    measure(
        "queue",
        lambda scale, say: run_queue(scale, say, only or ()),
        Scale.quick() if quick else Scale(repeats),
        Output(json, plot),
    )
