"""Which threads belong together on a core or a cache cluster: from who wakes whom; tried, kept if better.

Layout: `wakeups` reads the graph of a trace, `live` records one; `groups` cuts it, `plan` gives the groups
CPUs, `trial` applies a plan and measures. A layer above the rest of `unjank.cpu`: it uses traces.
"""

from unjank.cpu.place.groups import Limits
from unjank.cpu.place.live import record_wakeups
from unjank.cpu.place.plan import Placement, Plan, make_plan
from unjank.cpu.place.trial import Measured, Outcome, read_counter, try_plan
from unjank.cpu.place.wakeups import Edge, Member, WakeGraph, read_trace, read_wakeups

__all__ = [
    "Edge",
    "Limits",
    "Measured",
    "Member",
    "Outcome",
    "Placement",
    "Plan",
    "WakeGraph",
    "make_plan",
    "read_counter",
    "read_trace",
    "read_wakeups",
    "record_wakeups",
    "try_plan",
]
