"""Compares the findings of two traces: what went, what came, what changed and how surely.

Layout: `_identity` says which findings of two traces are about the same thing, `_bootstrap` how surely waits
became shorter or longer, `_compare` puts both together, `_terminal` and `_document` tell it, `_run` does it
all for two files. What is bad is `findings`' business.
"""

from unjank.report.compare._compare import Change, Comparison, Occurrences, Side, compare, regressions
from unjank.report.compare._document import SCHEMA, comparison_document
from unjank.report.compare._run import compare_traces
from unjank.report.compare._terminal import lead, render_comparison

__all__ = [
    "SCHEMA",
    "Change",
    "Comparison",
    "Occurrences",
    "Side",
    "compare",
    "compare_traces",
    "comparison_document",
    "lead",
    "regressions",
    "render_comparison",
]
