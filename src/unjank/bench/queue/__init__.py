"""`unjank bench queue`: the looper's queue against its predecessor and against what Python has.

Layout: one part per file, each with `measure(report, scale, progress)`; `_run_all` lists them.
"""

from unjank.bench.queue._run_all import PARTS, run_queue

__all__ = ["PARTS", "run_queue"]
