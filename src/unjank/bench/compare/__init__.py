"""`unjank bench compare`: what changed between two runs, beyond what repetitions differ anyway.

Layout: `_load` reads a run's JSON, `_changes` compares figure by figure, `_machines` the circumstances,
`table` shows.
"""

from unjank.bench.compare._changes import Change, Comparison, compare
from unjank.bench.compare._load import Figure, Loaded, load
from unjank.bench.compare.table import tables

__all__ = ["Change", "Comparison", "Figure", "Loaded", "compare", "load", "tables"]
