"""What a process's control groups allow: CPUs (cpuset), CPU time (quota), real-time budget; versions 1 and 2.

Source: Documentation/admin-guide/cgroup-v2.rst, and cgroup-v1/cpusets.rst; mounts are found as in
proc_pid_mountinfo(5), so containers and Android's own mount points need no special case.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from unjank.cpu.kernel_tree import KernelTree


@dataclass(frozen=True)
class Quota:
    """CPU time per period that a group and all below it may use together."""

    group: str
    cpus: float
    """CPUs' worth of time, such as 1.5."""


@dataclass(frozen=True)
class CpuLimits:
    """The limits of one process.

    Attributes:
        group: Its group in the hierarchy that decides about CPU time; `/` at the top or without any.
        cpus: The CPUs its cpuset allows; None where no cpuset limits it or none can be seen.
        cpuset_file: The file to widen, as a path; empty where there is none.
        quota: The tightest quota of its group and those above; None without one.
        realtime_us: Real-time budget in µs per period of its version 1 group (kernels with RT_GROUP_SCHED).
            None where there is no such budget.
        realtime_file: The file that holds it.
    """

    group: str = "/"
    cpus: frozenset[int] | None = None
    cpuset_file: str = ""
    quota: Quota | None = None
    realtime_us: int | None = None
    realtime_file: str = ""


@dataclass(frozen=True)
class _Group:
    """A process's place in one hierarchy; `folder` is below the tree's root."""

    name: str
    version: int
    controllers: frozenset[str]
    mount: str
    relative: PurePosixPath

    @property
    def folder(self) -> str:
        return _joined(self.mount, self.relative)

    def upwards(self) -> Iterator[str]:
        """Its folder and those above, up to the mount point."""
        yield self.folder
        for parent in self.relative.parents:
            if parent != self.relative:
                yield _joined(self.mount, parent)


def read_limits(tree: KernelTree | None = None, pid: int | str = "self") -> CpuLimits:
    """Reads the limits of a process; without control groups there are none."""
    tree = tree or KernelTree()
    groups = list(_groups(tree, pid))
    cpuset = _cpuset(tree, groups)
    realtime = _realtime(tree, groups)
    deciding = [group.name for group in groups if group.version == 2 or "cpu" in group.controllers]
    return CpuLimits(
        group=max(deciding, key=len, default="/"),
        cpus=cpuset[0] if cpuset else None,
        cpuset_file=cpuset[1] if cpuset else "",
        quota=min(_quotas(tree, groups), key=lambda quota: quota.cpus, default=None),
        realtime_us=realtime[0] if realtime else None,
        realtime_file=realtime[1] if realtime else "",
    )


def _groups(tree: KernelTree, pid: int | str) -> Iterator[_Group]:
    mounts = list(_mounts(tree))
    for line in (tree.text(f"proc/{pid}/cgroup") or "").splitlines():
        hierarchy, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        wanted = frozenset(controllers.split(",")) if controllers else frozenset()
        version = 2 if hierarchy == "0" else 1
        for mount_version, mount_controllers, root, mount in mounts:
            if mount_version == version and (version == 2 or wanted & mount_controllers):
                yield _Group(name, version, wanted, mount, _below(name, root))


def _below(group: str, root: str) -> PurePosixPath:
    """The group's path from the mount's root: a container sees only its own part of the hierarchy."""
    path = PurePosixPath(group)
    within = path.relative_to(root) if path.is_relative_to(root) else path.relative_to("/")
    return PurePosixPath(*(part for part in within.parts if part != ".."))


def _mounts(tree: KernelTree) -> Iterator[tuple[int, frozenset[str], str, str]]:
    for line in (tree.text("proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) >= 6 and kind and kind[0] in ("cgroup", "cgroup2"):
            controllers = frozenset(kind[-1].split(","))
            yield (2 if kind[0] == "cgroup2" else 1), controllers, fields[3], fields[4].lstrip("/")


def _cpuset(tree: KernelTree, groups: list[_Group]) -> tuple[frozenset[int], str] | None:
    for group in groups:
        effective, settable = (
            ("cpuset.cpus.effective", "cpuset.cpus")
            if group.version == 2
            else ("cpuset.effective_cpus", "cpuset.cpus")
        )
        # Android mounts version 1 without the prefix (noprefix).
        for folder in group.upwards():
            for read in (effective, settable, "effective_cpus", "cpus"):
                cpus = tree.cpus(f"{folder}/{read}")
                if cpus:
                    name = settable if read.startswith("cpuset") else "cpus"
                    return cpus, str(tree.path(f"{folder}/{name}"))
    return None


def _quotas(tree: KernelTree, groups: list[_Group]) -> Iterator[Quota]:
    for group in groups:
        read = _quota_v2 if group.version == 2 else _quota_v1
        for folder in group.upwards():
            cpus = read(tree, folder)
            if cpus is not None:
                yield Quota("/" + folder, cpus)


def _quota_v2(tree: KernelTree, folder: str) -> float | None:
    # cpu.max: "QUOTA PERIOD" in µs, or "max PERIOD"
    words = (tree.text(f"{folder}/cpu.max") or "").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0].isdecimal() else None


def _quota_v1(tree: KernelTree, folder: str) -> float | None:
    quota, period = tree.number(f"{folder}/cpu.cfs_quota_us"), tree.number(f"{folder}/cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _realtime(tree: KernelTree, groups: list[_Group]) -> tuple[int, str] | None:
    for group in groups:
        name = f"{group.folder}/cpu.rt_runtime_us"
        budget = tree.number(name)
        if group.version == 1 and budget is not None:
            return budget, str(tree.path(name))
    return None


def _joined(mount: str, relative: PurePosixPath) -> str:
    return mount if relative == PurePosixPath() else f"{mount}/{relative}"
