"""Where and how threads run: topology, affinity, priority, frequency, and what each thread does.

Layout: `topology` and `cgroup` read the machine; `threads` and `sets` say whom and where; `affinity`,
`priority` and `clamp` change threads through `change`; `refusals` explains what the kernel forbids; `observe`
shows the effect. All read and write below a `KernelTree`, so that tests can make machines up.
"""

from unjank._errors import CpuError
from unjank.cpu.affinity import get_affinity, pinned, set_affinity
from unjank.cpu.autogroup import autogrouped
from unjank.cpu.boost import (
    FASTEST_PLAN,
    Absent,
    Boost,
    BoostPlan,
    BoostReport,
    Turned,
    boost,
    restore_boost,
)
from unjank.cpu.cgroup import CpuLimits, Quota, read_limits
from unjank.cpu.change import Applied, Change
from unjank.cpu.clamp import clamp
from unjank.cpu.cpulist import format_cpu_list, parse_cpu_list
from unjank.cpu.errors import AbsentError, ForbiddenError, ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.observe import Observed, observe
from unjank.cpu.power import CpuPower, IdleState, read_frequencies, read_power
from unjank.cpu.priority import ANDROID_NICE, JAVA_NICE, nice_of, priority
from unjank.cpu.scheduler import Attributes, Clamp
from unjank.cpu.sets import resolve_cpus
from unjank.cpu.threads import ThreadRef, find_processes, find_thread, select_threads, threads_of
from unjank.cpu.topology import Cache, Cpu, Topology, read_topology

__all__ = [
    "ANDROID_NICE",
    "FASTEST_PLAN",
    "JAVA_NICE",
    "Absent",
    "AbsentError",
    "Applied",
    "Attributes",
    "Boost",
    "BoostPlan",
    "BoostReport",
    "Cache",
    "Change",
    "Clamp",
    "Cpu",
    "CpuError",
    "CpuLimits",
    "CpuPower",
    "ForbiddenError",
    "IdleState",
    "KernelTree",
    "Observed",
    "Quota",
    "ThreadGoneError",
    "ThreadRef",
    "Topology",
    "Turned",
    "autogrouped",
    "boost",
    "clamp",
    "find_processes",
    "find_thread",
    "format_cpu_list",
    "get_affinity",
    "nice_of",
    "observe",
    "parse_cpu_list",
    "pinned",
    "priority",
    "read_frequencies",
    "read_limits",
    "read_power",
    "read_topology",
    "resolve_cpus",
    "restore_boost",
    "select_threads",
    "set_affinity",
    "threads_of",
]
