"""The two comparators in the same heap with the same keys: nanoseconds per operation."""

import gc
from typing import Literal, get_args

from unjank import _bench
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale

Comparator = Literal["branchless", "branchy"]

COMPARATORS: tuple[Comparator, ...] = get_args(Comparator)
_OPERATIONS = 100_000
_CASES = ((1_000, False), (10_000, False), (100_000, False), (10_000, True))


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`branchless_vs_branchy_hold_SIZE` and `…_drain_SIZE`, rate over rate.

    hold: the head is popped and pushed again for later, a looper in steady state. drain: popped until empty,
    a backlog worked off. `…_few_due_times`: most comparisons fall to the sequence number.
    """
    for size, few_due_times in _CASES:
        progress(f"heap of {size}{', few due times' if few_due_times else ''}")
        _compare(report, scale, size, few_due_times)


def _compare(report: Report, scale: Scale, size: int, few_due_times: bool) -> None:
    actual, operations = scale.count(size), scale.count(_OPERATIONS)
    hold: dict[Comparator, list[float]] = {name: [] for name in COMPARATORS}
    drain: dict[Comparator, list[float]] = {name: [] for name in COMPARATORS}
    for turn in range(scale.repeats):
        gc.collect()
        for name in COMPARATORS[:: -1 if turn % 2 else 1]:
            held, drained = _bench.heap_ns(
                name, size=actual, few_due_times=few_due_times, operations=operations
            )
            hold[name].append(held)
            drain[name].append(drained)
    suffix = f"{size}{'_few_due_times' if few_due_times else ''}"
    for way, times in (("hold", hold), ("drain", drain)):
        for name, values in times.items():
            facts = {"comparator": name, "size": actual, "few_due_times": few_due_times}
            report.add(f"heap_{way}", "ns/operation", values, **facts)
        report.compare(
            f"branchless_vs_branchy_{way}_{suffix}", times["branchy"], times["branchless"], of="rate"
        )
