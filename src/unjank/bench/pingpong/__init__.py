"""`unjank bench pingpong`: what a hand-over between two threads or processes costs, and which kind it was.

Layout: `_placements` where the two run, `_run` one measurement, `_verdict` what the kernel's counters prove
it was, `_cell` all repetitions of one, `_bare` and `_peers` what it is compared with, `_measure` the whole;
`published` others' figures, `table` and `plot` show.
"""

from unjank.bench.pingpong._measure import run_pingpong
from unjank.bench.pingpong._placements import Choice, Placement, PlacementName, choose_placements
from unjank.bench.pingpong._run import MEDIA, PARTIES, Case, Counts, Medium, Parties, Run
from unjank.bench.pingpong._verdict import CONTEXT_SWITCH, CROSS_CORE, Verdict, judge
from unjank.bench.pingpong.plot import draw
from unjank.bench.pingpong.table import tables

__all__ = [
    "CONTEXT_SWITCH",
    "CROSS_CORE",
    "MEDIA",
    "PARTIES",
    "Case",
    "Choice",
    "Counts",
    "Medium",
    "Parties",
    "Placement",
    "PlacementName",
    "Run",
    "Verdict",
    "choose_placements",
    "draw",
    "judge",
    "run_pingpong",
    "tables",
]
