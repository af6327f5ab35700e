"""`unjank bench atomics`: counting at once, under a lock, by compare-and-swap, by fetch-add.

Layout: `_cases` what is measured, `_reading` one measurement and whether it may be believed, `_measure` the
whole; `table` and `plot` show.
"""

from unjank.bench.atomics._cases import (
    LAYOUTS,
    OPERATIONS,
    Case,
    Instructions,
    Layout,
    Operation,
    thread_counts,
)
from unjank.bench.atomics._measure import run_atomics
from unjank.bench.atomics._reading import Reading, judge
from unjank.bench.atomics.plot import draw
from unjank.bench.atomics.table import tables

__all__ = [
    "LAYOUTS",
    "OPERATIONS",
    "Case",
    "Instructions",
    "Layout",
    "Operation",
    "Reading",
    "draw",
    "judge",
    "run_atomics",
    "tables",
    "thread_counts",
]
