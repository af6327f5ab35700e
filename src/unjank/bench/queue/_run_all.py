"""Runs the parts of `bench queue`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from unjank.bench._isolate import Part, run_parts
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.queue import cancelling, end_to_end, growth, idle, insertion, posting, removal, wake

PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "insertion": insertion.measure,
        "growth": growth.measure,
        "removal": removal.measure,
        "wake": wake.measure,
        "post-delayed": posting.measure_delayed,
        "post": posting.measure_plain,
        "end-to-end": end_to_end.measure,
        "cancelling": cancelling.measure,
        "idle": idle.measure,
    }
)


def run_queue(scale: Scale, progress: Progress, only: Iterable[str] = ()) -> Report:
    """Measures all parts, or only those; see `run_parts()`."""
    return run_parts(PARTS, scale, progress, only)
