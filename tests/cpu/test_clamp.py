"""Utilisation clamps."""

import errno
from pathlib import Path

import pytest
from tests.cpu.machines import Machine, ProcThread, RefusingScheduler

from unjank import cpu
from unjank.cpu.scheduler import Clamp, KernelScheduler


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A thread on a made-up machine."""
    machine = Machine(tmp_path, range(4))
    ProcThread(pid=100, tid=101).put(machine)
    return machine


def test_one_bound_leaves_the_other(machine: Machine) -> None:
    """Setting the lower bound keeps the upper; leaving the block puts both back."""
    kernel = RefusingScheduler()
    with cpu.clamp(101, low=512, tree=machine.tree, scheduler=kernel):
        assert kernel.clamps[101] == Clamp(512, 1024)
    assert kernel.clamps[101] == Clamp(0, 1024)


def test_bounds_must_make_sense(machine: Machine) -> None:
    """Crossed or too large bounds, and none at all, are refused before the kernel is asked."""
    for bounds in ({"low": 600, "high": 500}, {"high": 1025}, {"low": -1}):
        with pytest.raises(cpu.CpuError, match="0 ≤ low ≤ high ≤ 1024"):
            cpu.clamp(101, tree=machine.tree, scheduler=RefusingScheduler(), **bounds)
    with pytest.raises(cpu.CpuError, match="nothing to clamp"):
        cpu.clamp(101)


def test_a_kernel_without_clamps_says_so(machine: Machine) -> None:
    """Absent is told from forbidden."""
    kernel = RefusingScheduler()
    kernel.refuse["clamp"] = errno.EOPNOTSUPP
    with pytest.raises(cpu.AbsentError, match="CONFIG_UCLAMP_TASK"):
        cpu.clamp(101, low=1, tree=machine.tree, scheduler=kernel)


def test_the_running_kernel_clamps_or_lacks_them() -> None:
    """On the real kernel either the bounds are read back, or their absence is told."""
    try:
        KernelScheduler().clamp(0)
    except OSError:
        with pytest.raises(cpu.AbsentError):
            cpu.clamp(low=10)
    else:
        with cpu.clamp(low=10) as applied:
            assert applied.changes[0].after.low == 10
