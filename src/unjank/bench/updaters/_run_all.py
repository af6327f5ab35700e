"""Runs the parts of `bench updaters`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from unjank.bench._isolate import Part, run_parts
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.updaters import coroutines, operations

PARTS: Mapping[str, Part] = MappingProxyType(
    {"operations": operations.measure, "coroutines": coroutines.measure}
)


def run_updaters(scale: Scale, progress: Progress, only: Iterable[str] = ()) -> Report:
    """Measures all parts, or only those; see `run_parts()`."""
    return run_parts(PARTS, scale, progress, only)
