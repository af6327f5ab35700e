"""Runs the parts of `bench queue`."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.queue import cancelling, end_to_end, growth, idle, insertion, posting, removal, wake

PARTS: Mapping[str, Callable[[Report, Scale, Progress], None]] = MappingProxyType(
    {
        "insertion": insertion.measure,
        "growth": growth.measure,
        "removal": removal.measure,
        "wake": wake.measure,
        "posting": posting.measure,
        "end-to-end": end_to_end.measure,
        "cancelling": cancelling.measure,
        "idle": idle.measure,
    }
)


def run_queue(scale: Scale, progress: Progress, parts: Iterable[str] = ()) -> Report:
    """Measures the parts named, or all.

    Args:
        scale: How much.
        progress: Told what comes next, one line each.
        parts: Of `PARTS`.

    Raises:
        KeyError: There is no such part.
    """
    report = Report()
    for part in list(parts) or PARTS:
        PARTS[part](report, scale, progress)
    return report
