"""What `unjank bench queue` and `unjank bench heap` measure, at their full size.

Goals: docs/bench.md lists them; the command says which are met.
"""

from benchmarks._report import Ratio, Report
from unjank.bench import Report as Collected
from unjank.bench import Scale
from unjank.bench.heap import run_heap
from unjank.bench.queue import run_queue


def run() -> Report:
    """Measures both, some minutes in all."""
    both = [run_queue(Scale(), _say), run_heap(Scale(), _say)]
    for report in both:
        for item in report.absent:
            print(f"  {item['name']} is not measured: {item['reason']}")
    return {
        "results": [result for report in both for result in report.results],
        "ratios": {name: ratio for report in both for name, ratio in _ratios(report).items()},
    }


def _ratios(report: Collected) -> dict[str, Ratio]:
    return {
        name: {"median": ratio.interval.median, "low": ratio.interval.low, "high": ratio.interval.high}
        for name, ratio in report.ratios.items()
    }


def _say(what: str) -> None:
    print(f"  … {what}", flush=True)
