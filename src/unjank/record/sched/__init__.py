"""The kernel's scheduling next to the locks: which level works here, and the session that records it.

Layout: `tracefs` finds and prepares the kernel's tracing files, `levels` judges and chooses, `session`
records.
"""

from unjank.record.sched.levels import ChosenLevel, Level, LevelName, SchedLevels, choose, probe
from unjank.record.sched.session import FtraceSession, FtraceStats

__all__ = [
    "ChosenLevel",
    "FtraceSession",
    "FtraceStats",
    "Level",
    "LevelName",
    "SchedLevels",
    "choose",
    "probe",
]
