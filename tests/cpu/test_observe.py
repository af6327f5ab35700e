"""Settings are shown to work: last CPU and share of CPU time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cpu.machines import Machine, ProcThread

from unjank import cpu

BUSY = "print('ready', flush=True)\nwhile True: pass"


def test_a_busy_thread_is_seen_where_it_was_bound() -> None:
    """A busy program bound to one CPU is seen there and nowhere else, and gets time."""
    chosen = max(os.sched_getaffinity(0))
    child = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        applied = cpu.set_affinity(child.pid, {chosen})
        (seen,) = cpu.observe([applied.changes[0].thread], seconds=0.3)
    finally:
        child.kill()
        child.communicate()
    assert seen.last_cpus == {chosen}
    assert seen.ran
    assert seen.cpu_share is not None
    assert 0 < seen.cpu_share <= 1.1
    assert not seen.ended


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A thread that does nothing."""
    machine = Machine(tmp_path, range(4))
    ProcThread(pid=100, tid=101, last_cpu=3).put(machine)
    return machine


def test_a_thread_that_did_not_run_is_told(machine: Machine) -> None:
    """Its last CPU proves nothing then."""
    (seen,) = cpu.observe([cpu.find_thread(101, machine.tree)], 0, machine.tree)
    assert (seen.ran, seen.last_cpus, seen.cpu_share) == (False, frozenset({3}), 0)


def test_what_the_kernel_does_not_count_is_absent(machine: Machine) -> None:
    """Without schedstat there is no share, rather than a share of zero."""
    (machine.root / "proc/100/task/101/schedstat").unlink()
    (seen,) = cpu.observe([cpu.find_thread(101, machine.tree)], 0, machine.tree)
    assert (seen.ran, seen.cpu_share, seen.wait_share) == (None, None, None)


def test_a_thread_that_ends_meanwhile(machine: Machine) -> None:
    """It is told, and is no error."""
    thread = cpu.find_thread(101, machine.tree)
    (machine.root / "proc/100/task/101/stat").unlink()
    (seen,) = cpu.observe([thread], 0, machine.tree)
    assert seen.ended
