"""What each thread of a process does, from the kernel's counters: no tracing, and no rights needed.

Layout: `reader` takes a snapshot of all threads, made to be cheap; `rates` compares two; `view` shows them.
"""

from unjank.cpu.stat.rates import Rates, StormLimits, ThreadRate, compare
from unjank.cpu.stat.reader import Snapshot, ThreadReader, ThreadSample

__all__ = ["Rates", "Snapshot", "StormLimits", "ThreadRate", "ThreadReader", "ThreadSample", "compare"]
