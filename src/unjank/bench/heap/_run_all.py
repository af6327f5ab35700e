"""Runs the parts of `bench heap`."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.heap import cachegrind, comparators, mca

PARTS: Mapping[str, Callable[[Report, Scale, Progress], None]] = MappingProxyType(
    {"time": comparators.measure, "mispredictions": cachegrind.measure, "cycles": mca.measure}
)


def run_heap(scale: Scale, progress: Progress, parts: Iterable[str] = ()) -> Report:
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
