"""`unjank bench cores`: how long each CPU takes to get a cache line that another has just written.

Layout: `_pairs` which are measured, `_cell` one pair and whether it may be believed, `_measure` the whole,
`_matrix` reads a document; `table` and `plot` show.
"""

from unjank.bench.cores._cell import Cell, Reading, judge, settle
from unjank.bench.cores._measure import run_cores
from unjank.bench.cores._pairs import Pair, Relation, Selection, relation, select_pairs
from unjank.bench.cores.plot import draw
from unjank.bench.cores.table import tables

__all__ = [
    "Cell",
    "Pair",
    "Reading",
    "Relation",
    "Selection",
    "draw",
    "judge",
    "relation",
    "run_cores",
    "select_pairs",
    "settle",
    "tables",
]
