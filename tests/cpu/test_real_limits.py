"""The running kernel's limits: control groups of version 1, capabilities; as root, in groups of our own."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from unjank import cpu

ALLOWED = sorted(os.sched_getaffinity(0))
UNJANK = str(Path(sysconfig.get_path("scripts")) / "unjank")


@pytest.fixture
def child() -> Iterator[int]:
    """A process that waits."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate()


def _group(controller: str) -> Path:
    """A new group of a version 1 hierarchy."""
    mount = Path("/sys/fs/cgroup") / controller
    if not (mount / "tasks").exists():
        pytest.skip(f"no version 1 control groups with {controller} at {mount}")
    group = mount / f"unjank-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made in {mount}: {error.strerror}")
    return group


def _leave(group: Path) -> None:
    for pid in (group / "cgroup.procs").read_text().split():
        (group.parent / "cgroup.procs").write_text(pid)
    group.rmdir()


@pytest.fixture
def cpuset(child: int) -> Iterator[Path]:
    """A cpuset of one CPU with the child in it."""
    if len(ALLOWED) < 2:
        pytest.skip("needs two CPUs")
    group = _group("cpuset")
    try:
        (group / "cpuset.cpus").write_text(str(ALLOWED[0]))
        (group / "cpuset.mems").write_text((group.parent / "cpuset.mems").read_text())
        (group / "cgroup.procs").write_text(str(child))
        yield group
    finally:
        _leave(group)


def test_a_real_cpuset_is_named(cpuset: Path, child: int) -> None:
    """The kernel's EINVAL, and its silence about a mask granted in part, both become the cpuset."""
    inside, outside = ALLOWED[0], ALLOWED[1]
    assert cpu.read_limits(pid=child).cpus == frozenset({inside})
    rule = f"the cpuset of control group /.* allows CPU {inside}, not {outside}; widen {cpuset}/cpuset.cpus"
    with pytest.raises(cpu.ForbiddenError, match=rule):
        cpu.set_affinity(child, {outside})
    with pytest.raises(cpu.ForbiddenError, match=f"can have CPU {inside} of {inside}-{outside} only: {rule}"):
        cpu.set_affinity(child, {inside, outside})
    assert os.sched_getaffinity(child) == {inside}


@pytest.fixture
def time_group(child: int) -> Iterator[Path]:
    """A group for CPU time with the child in it."""
    group = _group("cpu")
    try:
        (group / "cgroup.procs").write_text(str(child))
        yield group
    finally:
        _leave(group)


def test_a_real_group_without_real_time_budget(time_group: Path, child: int) -> None:
    """With RT_GROUP_SCHED even root gets EPERM there; the message has the file to write."""
    budget = time_group / "cpu.rt_runtime_us"
    if not budget.exists():
        pytest.skip("this kernel has no real-time budgets (RT_GROUP_SCHED)")
    with pytest.raises(cpu.ForbiddenError, match=rf"no real-time budget; as root: echo 950000 > {budget}"):
        cpu.priority(child, policy="fifo", priority=1)
    assert os.sched_getscheduler(child) == os.SCHED_OTHER


def test_a_real_quota_is_read(time_group: Path, child: int) -> None:
    """Half a CPU's worth."""
    period = int((time_group / "cpu.cfs_period_us").read_text())
    (time_group / "cpu.cfs_quota_us").write_text(str(period // 2))
    limits = cpu.read_limits(pid=child)
    assert limits.quota == cpu.Quota(str(time_group), 0.5)
    assert limits.group.startswith("/")


def test_root_without_the_capability(child: int) -> None:
    """As in a container that dropped CAP_SYS_NICE: the kernel's refusal names it and how to get it."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("takes root and setpriv(1) (Debian: util-linux)")
    command = ["setpriv", "--inh-caps", "-sys_nice", "--bounding-set", "-sys_nice", UNJANK, "cpu", "nice"]
    done = subprocess.run(
        [*command, "-5", "--pid", str(child), "--watch", "0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "root without the capability CAP_SYS_NICE; docker run --cap-add SYS_NICE" in done.stderr
    assert os.getpriority(os.PRIO_PROCESS, child) == 0
