"""Removal from another thread's queue, native: by handle and by criteria, deliqueue against legacy."""

from functools import partial

from unjank import _bench
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale, interleaved

_BACKLOG = 10_000


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`deliqueue_vs_legacy_cancel` (by handle) and `deliqueue_vs_legacy_remove` (by criteria)."""
    backlog = scale.count(_BACKLOG)
    for way, by_handle in (("cancel", True), ("remove", False)):
        progress(f"native {way} beside {backlog} pending")
        counts = {"deliqueue": scale.count(100_000 if by_handle else 2_000), "legacy": scale.count(2_000)}
        sides = {
            queue: partial(
                _bench.remove_ns, queue, backlog=backlog, removals=counts[queue], by_handle=by_handle
            )
            for queue in ("deliqueue", "legacy")
        }
        times = interleaved(sides, scale.repeats)
        for queue, values in times.items():
            report.add(f"native_{way}", "ns/removal", values, queue=queue, backlog=backlog)
        report.compare(f"deliqueue_vs_legacy_{way}", times["legacy"], times["deliqueue"], of="rate")
