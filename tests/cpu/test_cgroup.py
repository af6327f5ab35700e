"""Control groups: cpuset, quota and real-time budget, of both versions."""

from pathlib import Path

import pytest
from tests.cpu.machines import Machine

from unjank.cpu import read_limits

V2_MOUNT = "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"


def v1_mount(controllers: str, root: str = "/") -> str:
    """A line of mountinfo for a version 1 hierarchy."""
    return f"40 24 0:31 {root} /sys/fs/cgroup/{controllers} rw - cgroup cgroup rw,{controllers}"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Four CPUs and no control groups yet."""
    return Machine(tmp_path, range(4))


def test_version_2_limits(machine: Machine) -> None:
    """The effective cpuset and the tightest quota on the way up count."""
    machine.write("proc/self/mountinfo", V2_MOUNT)
    machine.write("proc/self/cgroup", "0::/app/worker")
    machine.write("sys/fs/cgroup/app/worker/cpuset.cpus.effective", "1-2")
    machine.write("sys/fs/cgroup/app/worker/cpu.max", "max 100000")
    machine.write("sys/fs/cgroup/app/cpu.max", "150000 100000")
    limits = read_limits(machine.tree)
    assert (limits.group, limits.cpus) == ("/app/worker", frozenset({1, 2}))
    assert limits.cpuset_file.endswith("sys/fs/cgroup/app/worker/cpuset.cpus")
    assert limits.quota is not None
    assert (limits.quota.cpus, limits.quota.group) == (1.5, "/sys/fs/cgroup/app")


def test_version_1_limits(machine: Machine) -> None:
    """Each controller has a hierarchy of its own; a quota of -1 is none."""
    machine.write("proc/self/mountinfo", v1_mount("cpu,cpuacct") + "\n" + v1_mount("cpuset"))
    machine.write("proc/self/cgroup", "4:cpuset:/set\n2:cpu,cpuacct:/time\n0::/")
    machine.write("sys/fs/cgroup/cpuset/set/cpuset.effective_cpus", "0,3")
    machine.write("sys/fs/cgroup/cpu,cpuacct/time/cpu.cfs_quota_us", 50000)
    machine.write("sys/fs/cgroup/cpu,cpuacct/time/cpu.cfs_period_us", 100000)
    machine.write("sys/fs/cgroup/cpu,cpuacct/time/cpu.rt_runtime_us", 0)
    limits = read_limits(machine.tree)
    assert limits.cpus == frozenset({0, 3})
    assert limits.quota is not None
    assert limits.quota.cpus == 0.5
    assert limits.realtime_us == 0
    machine.write("sys/fs/cgroup/cpu,cpuacct/time/cpu.cfs_quota_us", -1)
    assert read_limits(machine.tree).quota is None


def test_a_container_sees_its_own_part(machine: Machine) -> None:
    """The mount's root is cut off the group's path, as in a container without its own namespace."""
    machine.write("proc/self/mountinfo", v1_mount("cpuset", root="/docker/abc"))
    machine.write("proc/self/cgroup", "4:cpuset:/docker/abc")
    machine.write("sys/fs/cgroup/cpuset/cpuset.cpus", "2-3")
    assert read_limits(machine.tree).cpus == frozenset({2, 3})


def test_android_has_its_own_mount_points(machine: Machine) -> None:
    """A cpuset mounted at /dev/cpuset, without prefixes, is found."""
    machine.write("proc/self/mountinfo", "9 1 0:9 / /dev/cpuset rw - cgroup none rw,cpuset,noprefix")
    machine.write("proc/self/cgroup", "3:cpuset:/top-app")
    machine.write("dev/cpuset/top-app/cpus", "0-2")
    limits = read_limits(machine.tree)
    assert limits.cpus == frozenset({0, 1, 2})
    assert limits.cpuset_file.endswith("dev/cpuset/top-app/cpus")


def test_no_control_groups_no_limits(machine: Machine) -> None:
    """Without any, nothing is limited and nothing fails."""
    limits = read_limits(machine.tree)
    assert (limits.cpus, limits.quota, limits.realtime_us) == (None, None, None)


def test_a_path_cannot_leave_the_mount(machine: Machine) -> None:
    """`..`, which the kernel shows for groups outside of the namespace, leads nowhere."""
    machine.write("proc/self/mountinfo", V2_MOUNT)
    machine.write("proc/self/cgroup", "0::/../../../secret")
    machine.write("sys/fs/secret/cpu.max", "1 100000")
    assert read_limits(machine.tree).quota is None
