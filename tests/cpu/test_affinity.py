"""Affinity: set, read back, put back; and why not."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cpu.machines import CPUS, Machine, ProcThread, RefusingScheduler, phone, ryzen
from tests.cpu.nobody import as_nobody
from tests.record.threads import run_in_thread

from unjank import cpu
from unjank.cpu.threads import select_threads

ALLOWED = os.sched_getaffinity(0)


@pytest.fixture
def one_cpu() -> int:
    """A CPU this process may use."""
    return min(ALLOWED)


@pytest.fixture
def parked() -> Iterator[threading.Thread]:
    """A Python thread that waits until the test is over."""
    done, started = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        done.wait()

    thread = threading.Thread(target=wait, name="parked")
    thread.start()
    started.wait()
    yield thread
    done.set()
    thread.join()


def test_pinned_binds_and_gives_back(one_cpu: int) -> None:
    """Inside the block the caller has one CPU, afterwards the mask it had."""

    def body() -> None:
        with cpu.pinned({one_cpu}) as applied:
            assert os.sched_getaffinity(0) == {one_cpu}
            assert applied.changes[0].after == {one_cpu}
        assert os.sched_getaffinity(0) == ALLOWED

    run_in_thread(body)


def test_pinned_gives_back_after_an_exception(one_cpu: int) -> None:
    """An exception passes through, and the mask is the old one."""

    def body() -> None:
        with pytest.raises(ZeroDivisionError), cpu.pinned({one_cpu}):
            raise ZeroDivisionError
        assert os.sched_getaffinity(0) == ALLOWED

    run_in_thread(body)


def test_cpu_0_is_allowed() -> None:
    """CPU 0 can be chosen where the process may use it."""
    if 0 not in ALLOWED:
        pytest.skip("this process may not use CPU 0")

    def body() -> frozenset[int]:
        with cpu.pinned("0"):
            return cpu.get_affinity()

    assert run_in_thread(body) == {0}


def test_a_python_thread_by_itself(parked: threading.Thread, one_cpu: int) -> None:
    """A Thread is named by its object; the caller keeps its mask."""
    with cpu.set_affinity(parked, {one_cpu}):
        assert os.sched_getaffinity(parked.native_id or -1) == {one_cpu}
        assert os.sched_getaffinity(0) == ALLOWED
    assert os.sched_getaffinity(parked.native_id or -1) == ALLOWED


def test_all_threads_of_a_process(parked: threading.Thread, one_cpu: int) -> None:
    """A process means each of its threads, and all are put back."""
    both = {parked.native_id, threading.get_native_id()}
    threads = select_threads(pids=[os.getpid()])
    assert both <= {thread.tid for thread in threads}
    with cpu.set_affinity(threads, {one_cpu}, follow=[os.getpid()]) as applied:
        assert both <= {change.thread.tid for change in applied.changes}
        assert os.sched_getaffinity(parked.native_id or -1) == {one_cpu}
    assert os.sched_getaffinity(parked.native_id or -1) == ALLOWED


def test_a_thread_that_never_started_and_one_that_ended(one_cpu: int) -> None:
    """Both are told apart."""
    with pytest.raises(cpu.CpuError, match=r"no native id yet; start\(\) it first"):
        cpu.set_affinity(threading.Thread(name="new"), {one_cpu})
    ended = threading.Thread(target=int, name="old")
    ended.start()
    ended.join()
    with pytest.raises(cpu.ThreadGoneError, match="'old' has ended"):
        cpu.set_affinity(ended, {one_cpu})


def test_a_vanished_process() -> None:
    """The id of a process that has ended is an error with the way to find others."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with pytest.raises(cpu.ThreadGoneError, match=f"there is no thread {child.pid}"):
        cpu.set_affinity(child.pid, {0})
    with pytest.raises(cpu.ThreadGoneError, match=f"there is no process {child.pid}"):
        cpu.threads_of(child.pid)


def test_zero_and_below_mean_the_caller(one_cpu: int) -> None:
    """As in sched_setaffinity(2), and in Android's wrappers of it."""

    def body() -> None:
        for caller in (0, -1):
            with cpu.set_affinity(caller, {one_cpu}) as applied:
                assert applied.changes[0].thread.tid == threading.get_native_id()

    run_in_thread(body)


def test_a_cpu_that_is_not_there() -> None:
    """The kernel's EINVAL becomes the machine's CPUs; a mask granted in part is refused and taken back."""
    missing = 4000

    def body() -> None:
        with pytest.raises(cpu.ForbiddenError, match=f"there is no CPU {missing}: this machine has"):
            cpu.set_affinity(None, {missing})
        with pytest.raises(cpu.ForbiddenError, match=f"of {min(ALLOWED)},{missing} only: there is no CPU"):
            cpu.set_affinity(None, {min(ALLOWED), missing})
        assert os.sched_getaffinity(0) == ALLOWED

    run_in_thread(body)


def test_others_threads_may_not_be_bound() -> None:
    """A user without rights is told whose thread it is and what would be needed."""
    target = os.getpid()
    answer = as_nobody(lambda: str(cpu.set_affinity(target, {min(ALLOWED)}).changes))
    assert "is not permitted: thread" in answer
    assert "belongs to user 0; run as that user, or as root (CAP_SYS_NICE)" in answer


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Eight CPUs in two L3 caches, and one thread that last ran on CPU 5."""
    machine = ryzen(tmp_path)
    ProcThread(pid=100, tid=101, last_cpu=5).put(machine)
    return machine


def test_words_start_where_the_thread_ran(machine: Machine) -> None:
    """`same L3` is that of the CPU in field 39."""
    kernel = RefusingScheduler()
    applied = cpu.set_affinity(101, "same L3", tree=machine.tree, scheduler=kernel)
    assert kernel.affinities[101] == {4, 5, 6, 7}
    applied.restore()
    assert kernel.affinities[101] == set(range(8))


def test_an_offline_cpu_is_named(machine: Machine) -> None:
    """The message has the command that brings it online."""
    machine.write(f"{CPUS}/online", "0-5,7")
    kernel = RefusingScheduler({0, 1, 2, 3, 4, 5, 7})
    with pytest.raises(cpu.ForbiddenError, match=r"CPU 6 is offline.*echo 1 > /sys/.*/cpu6/online"):
        cpu.set_affinity(101, {6}, tree=machine.tree, scheduler=kernel)


def test_a_cpuset_is_named(machine: Machine) -> None:
    """What the cpuset leaves out is said, with its file; the mask is as before."""
    machine.write("proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    machine.write("proc/100/cgroup", "0::/box")
    machine.write("sys/fs/cgroup/box/cpuset.cpus.effective", "0-3")
    kernel = RefusingScheduler(range(4))
    with pytest.raises(
        cpu.ForbiddenError, match=r"group /box allows CPU 0-3, not 4.*box/cpuset.cpus"
    ) as error:
        cpu.set_affinity(101, {3, 4}, tree=machine.tree, scheduler=kernel)
    assert "can have CPU 3 of 3-4 only" in str(error.value)
    assert kernel.affinities[101] == {0, 1, 2, 3}


def test_a_kernel_thread_that_is_bound_is_named(machine: Machine) -> None:
    """PF_NO_SETAFFINITY is told from a wrong CPU."""
    ProcThread(pid=9, tid=9, name="kworker/1:0", flags=0x04000000).put(machine)
    kernel = RefusingScheduler()
    kernel.refuse["set_affinity"] = errno.EINVAL
    with pytest.raises(cpu.ForbiddenError, match="a kernel thread that the kernel has bound"):
        cpu.set_affinity(9, {0}, tree=machine.tree, scheduler=kernel)


def test_root_in_a_container_without_the_capability(machine: Machine) -> None:
    """Root that lacks CAP_SYS_NICE is told how containers get it."""
    if os.geteuid() != 0:
        pytest.skip("tells root from others")
    machine.write("proc/self/status", "CapEff:\t00000000a80425fb\nSeccomp:\t2")
    kernel = RefusingScheduler()
    kernel.refuse["set_affinity"] = errno.EPERM
    with pytest.raises(cpu.ForbiddenError, match="docker run --cap-add SYS_NICE"):
        cpu.set_affinity(101, {0}, tree=machine.tree, scheduler=kernel)
    machine.write("proc/self/status", "CapEff:\t000001ffffffffff\nSeccomp:\t2")
    with pytest.raises(cpu.ForbiddenError, match="a seccomp filter"):
        cpu.set_affinity(101, {0}, tree=machine.tree, scheduler=kernel)


def test_all_or_none(machine: Machine) -> None:
    """If the second of two threads is refused, the first gets its mask back."""
    ProcThread(pid=100, tid=102).put(machine)

    class RefusesTheSecond(RefusingScheduler):
        def set_affinity(self, tid: int, cpus: frozenset[int]) -> None:
            if tid == 102:
                raise OSError(errno.EPERM, "no")
            super().set_affinity(tid, cpus)

    kernel = RefusesTheSecond()
    with pytest.raises(cpu.ForbiddenError):
        cpu.set_affinity([101, 102], {1}, tree=machine.tree, scheduler=kernel)
    assert kernel.affinities[101] == set(range(8))


def test_threads_that_start_meanwhile_are_followed(machine: Machine) -> None:
    """A thread that appears while a process is bound is bound too."""

    class Starts(RefusingScheduler):
        def set_affinity(self, tid: int, cpus: frozenset[int]) -> None:
            super().set_affinity(tid, cpus)
            ProcThread(pid=100, tid=103).put(machine)

    kernel = Starts()
    threads = cpu.threads_of(100, machine.tree)
    applied = cpu.set_affinity(threads, {2}, follow=[100], tree=machine.tree, scheduler=kernel)
    assert [change.thread.tid for change in applied.changes] == [101, 103]


def test_an_id_that_another_thread_got_is_left_alone(machine: Machine) -> None:
    """What is put back is put on the thread that was changed, not on its successor of the same id."""
    kernel = RefusingScheduler()
    applied = cpu.set_affinity(101, {1}, tree=machine.tree, scheduler=kernel)
    ProcThread(pid=100, tid=101, start_ticks=9999).put(machine)
    applied.restore()
    assert kernel.affinities[101] == {1}


def test_a_deadline_thread_must_not_be_bound(machine: Machine) -> None:
    """EBUSY is explained by the policy."""
    kernel = RefusingScheduler()
    kernel.refuse["set_affinity"] = errno.EBUSY
    with pytest.raises(cpu.ForbiddenError, match="policy deadline, which must not be bound"):
        cpu.set_affinity(101, {1}, tree=machine.tree, scheduler=kernel)


def test_big_on_a_phone(tmp_path: Path) -> None:
    """`big` binds to the big cluster."""
    machine, kernel = phone(tmp_path), RefusingScheduler()
    ProcThread(pid=1, tid=1).put(machine)
    cpu.set_affinity(1, "big", tree=machine.tree, scheduler=kernel)
    assert kernel.affinities[1] == {4, 5, 6}
