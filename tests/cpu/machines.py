"""Machines made of files: `/proc`, `/sys` and `/dev` as kernels write them; and a kernel that refuses."""

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from unjank.cpu import Attributes, Clamp, KernelTree, format_cpu_list
from unjank.cpu.topology import Topology, read_topology

CPUS = "sys/devices/system/cpu"


class Machine:
    """Builds a tree; `cpus` are the online ones unless told otherwise."""

    def __init__(self, root: Path, cpus: Iterable[int], *, offline: Iterable[int] = ()) -> None:
        self.root = root
        self.cpus = frozenset(cpus)
        present = self.cpus | frozenset(offline)
        self.write(f"{CPUS}/online", format_cpu_list(self.cpus))
        self.write(f"{CPUS}/present", format_cpu_list(present))
        self.write(f"{CPUS}/possible", format_cpu_list(present))
        self.write(f"{CPUS}/isolated", "")
        for cpu in present:
            (root / f"{CPUS}/cpu{cpu}").mkdir(parents=True, exist_ok=True)

    @property
    def tree(self) -> KernelTree:
        """The tree as the code under test sees it."""
        return KernelTree(self.root)

    def topology(self, allowed: Iterable[int] | None = None) -> Topology:
        """What is read of it, by a process that may use these CPUs; all by default."""
        usable = self.cpus if allowed is None else frozenset(allowed)
        return read_topology(self.tree, lambda: usable)

    def write(self, name: str, text: object) -> None:
        """Writes a file, with the line's end that the kernel writes."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def read(self, name: str) -> str:
        """A file's text."""
        return (self.root / name).read_text().strip()

    def topology_of(self, cpu: int, **values: object) -> None:
        """Files of `cpuN/topology`."""
        for name, value in values.items():
            self.write(f"{CPUS}/cpu{cpu}/topology/{name}", value)

    def cache(self, cpu: int, index: int, level: int, kind: str, size: str, shared: Iterable[int]) -> None:
        """One cache of a CPU."""
        folder = f"{CPUS}/cpu{cpu}/cache/index{index}"
        self.write(f"{folder}/level", level)
        self.write(f"{folder}/type", kind)
        self.write(f"{folder}/size", size)
        self.write(f"{folder}/shared_cpu_list", format_cpu_list(shared))

    def frequency(
        self, policy: int, cpus: Iterable[int], low: int, high: int, governor: str = "schedutil"
    ) -> None:
        """A cpufreq policy and the links of its CPUs to it."""
        folder = f"{CPUS}/cpufreq/policy{policy}"
        self.write(f"{folder}/related_cpus", " ".join(map(str, sorted(cpus))))
        self.write(f"{folder}/affected_cpus", " ".join(map(str, sorted(cpus))))
        self.write(f"{folder}/scaling_governor", governor)
        self.write(f"{folder}/scaling_available_governors", "performance powersave schedutil")
        self.write(f"{folder}/scaling_driver", "cpufreq-dt")
        for name, khz in (
            ("cpuinfo_min_freq", low),
            ("cpuinfo_max_freq", high),
            ("scaling_min_freq", low),
            ("scaling_max_freq", high),
            ("scaling_cur_freq", low),
        ):
            self.write(f"{folder}/{name}", khz)
        for cpu in cpus:
            (self.root / f"{CPUS}/cpu{cpu}/cpufreq").symlink_to(f"../cpufreq/policy{policy}")


def phone(root: Path) -> Machine:
    """Four little, three big and one prime CPU; no caches, no clusters told, as on most phones."""
    machine = Machine(root, range(8))
    for cpu in range(8):
        machine.topology_of(
            cpu, physical_package_id=0, core_id=cpu, cluster_id=-1, core_cpus_list=cpu, cluster_cpus_list=cpu
        )
        machine.write(f"{CPUS}/cpu{cpu}/cpu_capacity", 325 if cpu < 4 else 828 if cpu < 7 else 1024)
    machine.frequency(0, range(4), 300_000, 1_803_000)
    machine.frequency(4, range(4, 7), 710_400, 2_419_200)
    machine.frequency(7, [7], 844_800, 2_841_600)
    return machine


def xeon(root: Path) -> Machine:
    """Two sockets of four cores with two threads each; siblings are n and n+8; a NUMA node per socket."""
    machine = Machine(root, range(16))
    for cpu in range(16):
        package, core = (cpu % 8) // 4, cpu % 4
        pair = {cpu % 8, cpu % 8 + 8}
        socket = {c for c in range(16) if (c % 8) // 4 == package}
        # Server kernels report each core's own L2 as a cluster.
        machine.topology_of(
            cpu,
            physical_package_id=package,
            die_id=0,
            core_id=core,
            core_cpus_list=format_cpu_list(pair),
            cluster_id=core * 8,
            cluster_cpus_list=format_cpu_list(pair),
        )
        machine.cache(cpu, 0, 1, "Data", "32K", pair)
        machine.cache(cpu, 1, 1, "Instruction", "32K", pair)
        machine.cache(cpu, 2, 2, "Unified", "1024K", pair)
        machine.cache(cpu, 3, 3, "Unified", "33792K", socket)
    machine.write("sys/devices/system/node/node0/cpulist", "0-3,8-11")
    machine.write("sys/devices/system/node/node1/cpulist", "4-7,12-15")
    machine.write(f"{CPUS}/isolated", "7,15")
    machine.write(f"{CPUS}/nohz_full", "7,15")
    machine.write(f"{CPUS}/intel_pstate/no_turbo", 0)
    machine.write(f"{CPUS}/intel_pstate/status", "active")
    return machine


def ryzen(root: Path) -> Machine:
    """One package, eight cores without SMT, two L3 caches."""
    machine = Machine(root, range(8))
    for cpu in range(8):
        complex_ = range(4) if cpu < 4 else range(4, 8)
        machine.topology_of(
            cpu, physical_package_id=0, die_id=0, core_id=cpu, core_cpus_list=cpu, cluster_id=65535
        )
        machine.cache(cpu, 0, 1, "Data", "32K", [cpu])
        machine.cache(cpu, 2, 2, "Unified", "512K", [cpu])
        machine.cache(cpu, 3, 3, "Unified", "16384K", complex_)
    machine.write("sys/devices/system/node/node0/cpulist", "0-7")
    machine.write(f"{CPUS}/cpufreq/boost", 1)
    machine.frequency(0, range(8), 2_200_000, 4_400_000, governor="powersave")
    return machine


def single(root: Path) -> Machine:
    """A virtual machine with one CPU and nothing said about it but its package."""
    machine = Machine(root, [0])
    machine.topology_of(0, physical_package_id=0, core_id=0, core_cpus_list=0)
    return machine


STATUS = """Name:\tworker
Tgid:\t{pid}
Pid:\t{tid}
Uid:\t{uid}\t{uid}\t{uid}\t{uid}
Seccomp:\t0
CapEff:\t{capabilities}
voluntary_ctxt_switches:\t{voluntary}
nonvoluntary_ctxt_switches:\t{involuntary}
"""
NO_CAPABILITIES = "0000000000000000"
ALL_CAPABILITIES = "000001ffffffffff"


@dataclass
class ProcThread:
    """A thread as `/proc` shows it; times in ns."""

    pid: int = 100
    tid: int = 100
    name: str = "worker"
    state: str = "S"
    last_cpu: int = 0
    nice: int = 0
    policy: int = 0
    start_ticks: int = 5000
    run_ns: int = 1_000
    wait_ns: int = 0
    voluntary: int = 0
    involuntary: int = 0
    migrations: int | None = 0
    flags: int = 0
    uid: int = field(default_factory=os.geteuid)

    def stat(self) -> str:
        """The line of `stat`, 52 fields."""
        fields = ["0"] * 50  # field 3 on
        for number, value in (
            (3, self.state),
            (9, self.flags),
            (18, 20 + self.nice),
            (19, self.nice),
            (22, self.start_ticks),
            (39, self.last_cpu),
            (41, self.policy),
        ):
            fields[number - 3] = str(value)
        return f"{self.tid} ({self.name}) {' '.join(fields)}"

    def put(self, machine: Machine) -> None:
        """Writes its files."""
        status = STATUS.format(
            pid=self.pid,
            tid=self.tid,
            uid=self.uid,
            capabilities=NO_CAPABILITIES,
            voluntary=self.voluntary,
            involuntary=self.involuntary,
        )
        folder = f"proc/{self.pid}/task/{self.tid}"
        machine.write(f"{folder}/stat", self.stat())
        machine.write(f"{folder}/schedstat", f"{self.run_ns} {self.wait_ns} 1")
        machine.write(f"{folder}/status", status)
        machine.write(f"proc/{self.tid}/status", status)
        if self.migrations is not None:
            machine.write(
                f"{folder}/sched",
                f"{self.name} ({self.tid}, #threads: 1)\n---\nse.nr_migrations : {self.migrations}\n"
                f"nr_switches : 9\nnr_voluntary_switches : {self.voluntary}\n"
                f"nr_involuntary_switches : {self.involuntary}",
            )


class RefusingScheduler:
    """A kernel in memory: threads have settings; a call may be told to fail."""

    def __init__(self, cpus: Iterable[int] = range(8)) -> None:
        self.cpus = frozenset(cpus)
        self.affinities: dict[int, frozenset[int]] = {}
        self.all_attributes: dict[int, Attributes] = {}
        self.clamps: dict[int, Clamp] = {}
        self.refuse: dict[str, int] = {}

    def _answer(self, call: str) -> None:
        if call in self.refuse:
            raise OSError(self.refuse[call], os.strerror(self.refuse[call]))

    def affinity(self, tid: int) -> frozenset[int]:
        """The mask that was set, else all CPUs."""
        self._answer("affinity")
        return self.affinities.get(tid, self.cpus)

    def set_affinity(self, tid: int, cpus: frozenset[int]) -> None:
        """As the kernel does: what is not there is dropped in silence, unless nothing is left."""
        self._answer("set_affinity")
        if not cpus & self.cpus:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self.affinities[tid] = cpus & self.cpus

    def attributes(self, tid: int) -> Attributes:
        """What was set, else the kernel's default."""
        self._answer("attributes")
        return self.all_attributes.get(tid, Attributes())

    def set_attributes(self, tid: int, wanted: Attributes) -> None:
        """Keeps them."""
        self._answer("set_attributes")
        self.all_attributes[tid] = wanted

    def clamp(self, tid: int) -> Clamp:
        """What was set, else the kernel's default."""
        self._answer("clamp")
        return self.clamps.get(tid, Clamp(0, 1024))

    def set_clamp(self, tid: int, wanted: Clamp) -> None:
        """Keeps it."""
        self._answer("set_clamp")
        self.clamps[tid] = wanted
