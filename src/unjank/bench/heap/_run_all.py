"""Runs the parts of `bench heap`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from unjank.bench._isolate import Part, run_parts
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.heap import cachegrind, comparators, mca

PARTS: Mapping[str, Part] = MappingProxyType(
    {"time": comparators.measure, "mispredictions": cachegrind.measure, "cycles": mca.measure}
)


def run_heap(scale: Scale, progress: Progress, only: Iterable[str] = ()) -> Report:
    """Measures all parts, or only those; see `run_parts()`."""
    return run_parts(PARTS, scale, progress, only)
