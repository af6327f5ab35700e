"""`unjank bench heap`: the heap's comparator with and without branches.

Layout: `comparators` times them, `cachegrind` simulates the branch predictor, `mca` the pipeline.
"""

from unjank.bench.heap._run_all import PARTS, run_heap

__all__ = ["PARTS", "run_heap"]
