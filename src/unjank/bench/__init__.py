"""Benchmarks: ratios of what was measured in turn, with the machine's facts.

Layout: one package per benchmark (`queue`, `heap`); `_run` repeats, `_watch` looks at what goes on around,
`_statistics` judges, `_report` collects, `_document` and `_plot` write. What is native is
measured by `unjank._bench`.
"""

from unjank.bench._document import SCHEMA, document, write_document
from unjank.bench._machine import machine_facts, machine_warnings
from unjank.bench._plot import plot, require_plotting
from unjank.bench._report import Goal, Ratio, Report
from unjank.bench._run import Progress, Scale, Span, interleaved, time_threads
from unjank.bench._statistics import Interval, median_interval, paired_ratio, quantile
from unjank.bench._watch import Watch

__all__ = [
    "SCHEMA",
    "Goal",
    "Interval",
    "Progress",
    "Ratio",
    "Report",
    "Scale",
    "Span",
    "Watch",
    "document",
    "interleaved",
    "machine_facts",
    "machine_warnings",
    "median_interval",
    "paired_ratio",
    "plot",
    "quantile",
    "require_plotting",
    "time_threads",
    "write_document",
]
