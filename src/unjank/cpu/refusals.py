"""Why the kernel refused: finds the rule behind EPERM, EINVAL and EBUSY, and the way out."""

import os
from dataclasses import dataclass

from unjank.cpu.cgroup import read_limits
from unjank.cpu.cpulist import format_cpu_list
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.procstat import status_field
from unjank.cpu.scheduler import SCHED_DEADLINE, SCHED_FIFO, SCHED_RR, Attributes, Scheduler
from unjank.cpu.threads import ThreadRef, read_stat

_CAP_SYS_NICE = 23  # include/uapi/linux/capability.h
_HIGHEST_NICE = 19
_BOUND = 0x04000000  # PF_NO_SETAFFINITY, include/linux/sched.h
_CPUS = "sys/devices/system/cpu"


@dataclass(frozen=True)
class Refusals:
    """Explains refusals on one machine."""

    tree: KernelTree
    scheduler: Scheduler

    def affinity_invalid(self, thread: ThreadRef, wanted: frozenset[int]) -> str:
        """EINVAL of sched_setaffinity: none of the CPUs can be used by this thread."""
        if self._is_bound(thread):
            return f"{thread} is a kernel thread that the kernel has bound to its CPU; leave it there"
        return self.left_out(thread, wanted) or (
            f"the kernel allows {thread} none of CPU {format_cpu_list(wanted)}; compare `unjank cpu show`"
        )

    def left_out(self, thread: ThreadRef, cpus: frozenset[int]) -> str:
        """Why a thread can't have these CPUs; empty where no rule is found."""
        possible, online = self.tree.cpus(f"{_CPUS}/possible"), self.tree.cpus(f"{_CPUS}/online")
        if possible is not None and (missing := cpus - possible):
            return (
                f"there is no CPU {format_cpu_list(missing)}: this machine has {format_cpu_list(possible)}; "
                "choose among those"
            )
        if online is not None and (sleeping := cpus - online):
            return (
                f"CPU {format_cpu_list(sleeping)} is offline; bring it online as root: "
                f"echo 1 > /{_CPUS}/cpu{min(sleeping)}/online"
            )
        limits = read_limits(self.tree, thread.pid)
        if limits.cpus is not None and (outside := cpus - limits.cpus):
            return (
                f"the cpuset of control group {limits.group} allows CPU {format_cpu_list(limits.cpus)}, not "
                f"{format_cpu_list(outside)}; widen {limits.cpuset_file}, or docker run --cpuset-cpus"
            )
        return ""

    def not_permitted(self, thread: ThreadRef, what: str) -> str:
        """EPERM that comes from who the caller is."""
        status = self.tree.text("proc/self/status") or ""
        owner = self._owner(thread)
        if self.has_nice_capability():
            seccomp = status_field(status, "Seccomp")
            if seccomp not in (None, "0"):
                return f"{what}: a seccomp filter of this container forbids the system call; allow it there"
            return f"{what}: {thread} belongs to another user namespace; do it there, or from the host"
        if os.geteuid() == 0:
            return f"{what}: root without the capability CAP_SYS_NICE; docker run --cap-add SYS_NICE"
        if owner not in (None, os.geteuid()):
            return f"{what}: {thread} belongs to user {owner}; run as that user, or as root (CAP_SYS_NICE)"
        return f"{what}: it takes the capability CAP_SYS_NICE; run as root, or docker run --cap-add SYS_NICE"

    def nice_refused(self, thread: ThreadRef, wanted: Attributes) -> str:
        """EPERM or EACCES for a nice value: rlimit or owner."""
        floor = self.lowest_nice(thread.pid)
        what = f"nice {wanted.nice} of {thread} is not permitted"
        if self._is_not_of_rlimit(thread) or wanted.nice >= floor:
            return self.not_permitted(thread, what)
        allowed = f"{floor} at best" if floor <= _HIGHEST_NICE else "only raising it"
        needed = 20 - wanted.nice
        return (
            f"{what}: its limit RLIMIT_NICE allows {allowed}; run as root, or raise it: "
            f"prlimit --nice={needed} --pid {_whose(thread)}, or '@GROUP - nice {wanted.nice}' in "
            "/etc/security/limits.conf"
        )

    def realtime_refused(self, thread: ThreadRef, wanted: Attributes) -> str:
        """EPERM for the policies fifo and rr: rlimit, budget of the control group, owner."""
        what = f"real-time priority {wanted.priority} of {thread} is not permitted"
        limits = read_limits(self.tree, thread.pid)
        if limits.realtime_us == 0:
            return (
                f"{what}: control group {limits.group} has no real-time budget; as root: "
                f"echo 950000 > {limits.realtime_file}"
            )
        if self.tree.number("proc/sys/kernel/sched_rt_runtime_us") == 0:
            return f"{what}: real-time scheduling is off; sysctl kernel.sched_rt_runtime_us=950000"
        most = self._limit(thread.pid, "Max realtime priority")
        if self._is_not_of_rlimit(thread) or wanted.priority <= most:
            return self.not_permitted(thread, what)
        return (
            f"{what}: its limit RLIMIT_RTPRIO is {most}; run as root, or raise it: prlimit "
            f"--rtprio={wanted.priority} --pid {_whose(thread)}, or '@GROUP - rtprio {wanted.priority}' in "
            "/etc/security/limits.conf"
        )

    def deadline_refused(self, thread: ThreadRef) -> str:
        """EPERM for the policy deadline: capability, or a narrowed affinity mask."""
        what = f"policy deadline of {thread} is not permitted"
        if not self.has_nice_capability():
            return self.not_permitted(thread, what)
        online = self.tree.cpus(f"{_CPUS}/online") or frozenset()
        if online - self.scheduler.affinity(thread.tid):
            return (
                f"{what}: a deadline thread must be allowed on every CPU of its domain; set its affinity to "
                f"{format_cpu_list(online)} first"
            )
        return self.not_permitted(thread, what)

    def deadline_busy(self, thread: ThreadRef, wanted: Attributes) -> str:
        """EBUSY for the policy deadline: admission control."""
        share = wanted.runtime_ns / max(wanted.period_ns or wanted.deadline_ns, 1)
        runtime = self.tree.number("proc/sys/kernel/sched_rt_runtime_us")
        period = self.tree.number("proc/sys/kernel/sched_rt_period_us")
        most = f" ({runtime / period:.0%} of each CPU)" if runtime and period else ""
        return (
            f"no room for {share:.0%} of a CPU for {thread}: all deadline threads together may take no more "
            f"than sched_rt_runtime_us of each sched_rt_period_us{most}; ask for a smaller runtime"
        )

    def lowest_nice(self, pid: int) -> int:
        """The lowest nice value the rlimit of a process allows; 20 - RLIMIT_NICE (getrlimit(2))."""
        return 20 - self._limit(pid, "Max nice priority")

    def has_nice_capability(self) -> bool:
        """Whether this process has CAP_SYS_NICE in effect."""
        mask = status_field(self.tree.text("proc/self/status") or "", "CapEff")
        return mask is not None and bool(int(mask, 16) >> _CAP_SYS_NICE & 1)

    def _limit(self, pid: int, name: str) -> int:
        for line in (self.tree.text(f"proc/{pid}/limits") or "").splitlines():
            if line.startswith(name):
                soft = line.removeprefix(name).split()[0]
                return 99 if soft == "unlimited" else int(soft)
        return 0

    def _owner(self, thread: ThreadRef) -> int | None:
        uids = status_field(self.tree.text(f"proc/{thread.tid}/status") or "", "Uid")
        return int(uids.split()[1]) if uids else None

    def _is_not_of_rlimit(self, thread: ThreadRef) -> bool:
        """Whether something else than the limit forbids: that counts for one's own threads, not for root."""
        others = self._owner(thread) not in (None, os.geteuid())
        return others or self.has_nice_capability() or os.geteuid() == 0

    def _is_bound(self, thread: ThreadRef) -> bool:
        return bool(read_stat(thread.pid, thread.tid, self.tree).flags & _BOUND)


def _whose(thread: ThreadRef) -> str:
    """Whose limit to raise: one's own ends with this process, but the shell that starts it hands it down."""
    return "$$" if thread.pid == os.getpid() else str(thread.pid)


def is_realtime(attributes: Attributes) -> bool:
    """Whether the policy is one with real-time priorities."""
    return attributes.policy in (SCHED_FIFO, SCHED_RR)


def is_deadline(attributes: Attributes) -> bool:
    """Whether the policy is earliest deadline first."""
    return attributes.policy == SCHED_DEADLINE
