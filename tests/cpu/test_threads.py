"""Which threads are meant."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.cpu.machines import Machine, ProcThread

from unjank import cpu
from unjank.cpu.threads import is_same


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A process with three threads."""
    machine = Machine(tmp_path, range(4))
    for tid, name in ((100, "app"), (101, "RenderThread"), (102, "Binder:1 (x)")):
        ProcThread(pid=100, tid=tid, name=name).put(machine)
    return machine


def test_by_name_pattern(machine: Machine) -> None:
    """`*` and `?` stand for anything; brackets in names are no obstacle."""
    chosen = cpu.select_threads(pids=[100], name="Binder*", tree=machine.tree)
    assert [(thread.tid, thread.name) for thread in chosen] == [(102, "Binder:1 (x)")]
    with pytest.raises(cpu.ThreadGoneError, match="no thread of process 100 is called 'Gpu'"):
        cpu.select_threads(pids=[100], name="Gpu", tree=machine.tree)


def test_a_thread_is_chosen_once(machine: Machine) -> None:
    """Named twice, by id and by its process, it is one."""
    chosen = cpu.select_threads(tids=[101], pids=[100], tree=machine.tree)
    assert sorted(thread.tid for thread in chosen) == [100, 101, 102]


def test_a_thread_knows_its_process(machine: Machine) -> None:
    """By native id alone, the process is found."""
    assert cpu.find_thread(102, machine.tree).pid == 100


def test_a_successor_is_not_the_same(machine: Machine) -> None:
    """Same id, later start: another thread; no files: none."""
    thread = cpu.find_thread(101, machine.tree)
    assert is_same(thread, machine.tree)
    ProcThread(pid=100, tid=101, start_ticks=5001).put(machine)
    assert not is_same(thread, machine.tree)
    (machine.root / "proc/100/task/101/stat").unlink()
    assert not is_same(thread, machine.tree)


def test_real_threads_of_this_process() -> None:
    """The list has the main thread and this one."""
    tids = {thread.tid for thread in cpu.threads_of(os.getpid())}
    assert {os.getpid(), threading.get_native_id()} <= tids


def test_a_process_by_name() -> None:
    """A running program is found by a pattern of its name, and one that isn't there is told."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        name = Path(f"/proc/{child.pid}/comm").read_text().strip()
        assert child.pid in cpu.find_processes(name[:3] + "*")
    finally:
        child.communicate()
    with pytest.raises(cpu.ThreadGoneError, match="no process is called"):
        cpu.find_processes("no such program")
