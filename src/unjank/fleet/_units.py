"""Traces in units of work: what one worker does before it commits a part."""

from collections.abc import Iterator, Sequence

from unjank.fleet._trace import Trace

_LARGEST = 64
_UNITS_PER_WORKER = 4  # of those still to come: so the last ones are small, and no worker idles for long

Unit = tuple[Trace, ...]


def divide(traces: Sequence[Trace], workers: int, done: set[str]) -> Iterator[Unit]:
    """Cuts the traces into units, large ones first, and leaves out what is done.

    The cuts depend on the list and the number of workers only, not on what is done. So a unit that an
    interrupted run had not started has the same traces, and its part the same name, when the run goes on.
    """
    start = 0
    while start < len(traces):
        rest = len(traces) - start
        size = max(1, min(_LARGEST, rest // (_UNITS_PER_WORKER * workers)))
        unit = tuple(trace for trace in traces[start : start + size] if trace.label not in done)
        if unit:
            yield unit
        start += size


def with_following(unit: Unit) -> Iterator[tuple[Trace, Trace | None]]:
    """Each trace with the one after it, None for the last."""
    yield from zip(unit, (*unit[1:], None), strict=True)
