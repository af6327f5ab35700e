"""What `unjank bench pingpong`, `cores`, `atomics` and `priority` measure, at their full size.

Goals: docs/bench.md lists them; the commands say which are met.
"""

from collections.abc import Callable

from benchmarks._collected import as_report
from benchmarks._report import Report
from unjank import UnjankError
from unjank.bench import Report as Collected
from unjank.bench import Scale
from unjank.bench.atomics import run_atomics
from unjank.bench.cores import run_cores
from unjank.bench.pingpong import run_pingpong
from unjank.bench.priority import run_priority

_RUNS: tuple[Callable[[], Collected], ...] = (
    lambda: run_pingpong(Scale(), _say),
    lambda: run_cores(Scale(), _say),
    lambda: run_atomics(Scale(), _say),
    lambda: run_priority(Scale(), _say),
)


def run() -> Report:
    """Measures all, two minutes; what this machine cannot measure is told."""
    whole = Collected()
    for measure in _RUNS:
        try:
            whole.absorb(measure())
        except UnjankError as error:  # such as one CPU, where two are needed
            print(f"  not measured: {error}")
    return as_report(whole)


def _say(what: str) -> None:
    """These are many and short: not worth a line each."""
