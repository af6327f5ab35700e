"""What `unjank bench queue` and `unjank bench heap` measure, at their full size.

Goals: docs/bench.md lists them; the command says which are met.
"""

from benchmarks._collected import as_report
from benchmarks._report import Report
from unjank.bench import Report as Collected
from unjank.bench import Scale
from unjank.bench.heap import run_heap
from unjank.bench.queue import run_queue


def run() -> Report:
    """Measures both, some minutes in all."""
    both = Collected()
    for measure in (run_queue, run_heap):
        both.absorb(measure(Scale(), _say))
    return as_report(both)


def _say(what: str) -> None:
    print(f"  … {what}", flush=True)
