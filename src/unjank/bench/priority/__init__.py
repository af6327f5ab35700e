"""`unjank bench priority`: who gets how much of a CPU.

Layout: `_experiment` what runs and once through it, `_verdict` whether the kernel did as asked, `_measure`
the whole; `table` and `plot` show.
"""

from unjank.bench.priority._experiment import Experiment, Reading, expected_shares
from unjank.bench.priority._measure import run_priority
from unjank.bench.priority._verdict import judge
from unjank.bench.priority.plot import draw
from unjank.bench.priority.table import tables

__all__ = ["Experiment", "Reading", "draw", "expected_shares", "judge", "run_priority", "tables"]
