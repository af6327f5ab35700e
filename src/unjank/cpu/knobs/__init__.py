"""The kernel's and the device's knobs for speed: each a small object over an injectable root.

Layout: `knob` has the two kinds, those that stay as they are set and those that are held; `cpufreq`, `turbo`
and `clamps` are of the first kind, `latency` and `perflock` of the second; `registry` finds a knob by its
name, as the journal needs it.
"""

from unjank.cpu.knobs.cpufreq import FrequencyLimit, Governor, check_frequency, policies
from unjank.cpu.knobs.knob import Availability, HeldKnob, Knob
from unjank.cpu.knobs.latency import WakeLatency
from unjank.cpu.knobs.listing import KnobState, list_knobs
from unjank.cpu.knobs.perflock import PerfLock
from unjank.cpu.knobs.registry import find_knob
from unjank.cpu.knobs.turbo import turbo_knobs

__all__ = [
    "Availability",
    "FrequencyLimit",
    "Governor",
    "HeldKnob",
    "Knob",
    "KnobState",
    "PerfLock",
    "WakeLatency",
    "check_frequency",
    "find_knob",
    "list_knobs",
    "policies",
    "turbo_knobs",
]
