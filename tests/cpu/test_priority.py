"""Priority: nice values, policies, names; read back, put back; and why not."""

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.cpu.machines import Machine, ProcThread, RefusingScheduler
from tests.cpu.nobody import as_nobody
from tests.record.threads import run_in_thread

from unjank import cpu
from unjank.cpu.priority import ANDROID_NICE, JAVA_NICE, show_priority
from unjank.cpu.refusals import Refusals
from unjank.cpu.scheduler import Attributes, KernelScheduler

POSSIBLE = Refusals(cpu.KernelTree(), KernelScheduler()).has_nice_capability()
PRIVILEGED = pytest.mark.skipif(not POSSIBLE, reason="lacks CAP_SYS_NICE")


def own_nice() -> int:
    """The calling thread's nice value, as the kernel tells another way."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_nice_value_stays_until_it_is_restored() -> None:
    """Set at once, without a block; `restore()` puts it back once."""

    def body() -> None:
        applied = cpu.priority(nice=7)
        assert own_nice() == 7
        assert (applied.changes[0].before.nice, applied.changes[0].after.nice) == (0, 7)
        if POSSIBLE:
            applied.restore()
            applied.restore()
            assert own_nice() == 0

    run_in_thread(body)


@PRIVILEGED
def test_a_block_gives_back_after_an_exception() -> None:
    """Also where the block fails."""

    def body() -> None:
        before = own_nice()
        with pytest.raises(KeyError), cpu.priority(nice=-5):
            raise KeyError(own_nice())
        assert own_nice() == before

    run_in_thread(body)


@PRIVILEGED
@pytest.mark.parametrize(("policy", "number"), [("fifo", 1), ("rr", 2)])
def test_real_time_policies(policy: Any, number: int) -> None:
    """The kernel has the policy and priority that were given, and the old ones afterwards."""

    def body() -> None:
        with cpu.priority(policy=policy, priority=3):
            assert os.sched_getscheduler(0) == number
            assert os.sched_getparam(0).sched_priority == 3
        assert os.sched_getscheduler(0) == os.SCHED_OTHER

    run_in_thread(body)


@pytest.mark.parametrize(("policy", "number"), [("batch", 3), ("idle", 5)])
def test_patient_policies_need_no_rights(policy: Any, number: int) -> None:
    """Batch and idle keep the nice value."""

    def body() -> None:
        cpu.priority(nice=4)
        cpu.priority(policy=policy)
        assert os.sched_getscheduler(0) == number
        assert own_nice() == 4

    run_in_thread(body)


@PRIVILEGED
def test_deadline_by_its_system_call() -> None:
    """The policy deadline, which no function of the C library sets, with its three times."""

    def body() -> None:
        with cpu.priority(policy="deadline", runtime=0.001, deadline=0.005, period=0.010) as applied:
            assert os.sched_getscheduler(0) == 6
            after = applied.changes[0].after
            assert (after.runtime_ns, after.deadline_ns, after.period_ns) == (
                1_000_000,
                5_000_000,
                10_000_000,
            )
        assert os.sched_getscheduler(0) == os.SCHED_OTHER

    run_in_thread(body)


@PRIVILEGED
def test_a_bound_thread_cannot_have_a_deadline() -> None:
    """The kernel's EPERM is explained by the mask."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")

    def body() -> None:
        with (
            cpu.pinned({min(os.sched_getaffinity(0))}),
            pytest.raises(cpu.ForbiddenError, match="allowed on every CPU of its domain; set its affinity"),
        ):
            cpu.priority(policy="deadline", runtime=0.001, deadline=0.010)

    run_in_thread(body)


@PRIVILEGED
def test_more_than_the_machine_admits() -> None:
    """A whole CPU for each of many threads is refused by admission control."""

    def body() -> None:
        held, barrier = [], threading.Barrier(len(os.sched_getaffinity(0)) + 2)
        for _ in range(barrier.parties - 1):
            thread = threading.Thread(target=barrier.wait)
            thread.start()
            held.append(thread)
        with pytest.raises(cpu.ForbiddenError, match="no room for 90% of a CPU"):
            cpu.priority(held, policy="deadline", runtime=0.09, deadline=0.1)
        assert {os.sched_getscheduler(thread.native_id or 0) for thread in held} == {os.SCHED_OTHER}
        barrier.wait()

    run_in_thread(body)


def test_java_and_android_names() -> None:
    """Java's ten steps and Android's names are those of the platform."""
    assert [cpu.nice_of(f"java:{n}") for n in range(1, 11)] == [19, 16, 13, 10, 0, -2, -4, -5, -6, -8]
    assert cpu.nice_of("android:urgent_display") == JAVA_NICE[9] == -8
    assert cpu.nice_of("android:THREAD_PRIORITY_AUDIO") == -16
    assert dict(ANDROID_NICE)["background"] == 10
    assert cpu.nice_of("-20") == -20


def test_a_name_is_as_good_as_a_number() -> None:
    """`java=4` and `android="background"` set the nice value they stand for."""

    def body() -> tuple[int, int]:
        cpu.priority(android="less_favorable")
        first = own_nice()
        cpu.priority(java=4)
        return first, own_nice()

    assert run_in_thread(body) == (1, 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to set"),
        ({"nice": 20}, "nice values are -20 to 19"),
        ({"nice": 1, "java": 1}, "give one of"),
        ({"java": 0}, "1 to 10, not 0"),
        ({"java": 11}, "1 to 10, not 11"),
        ({"android": "loud"}, "no thread priority 'loud'; it has lowest, background"),
        ({"policy": "fifo"}, "priority, 1 to 99, belongs to"),
        ({"policy": "fifo", "priority": 0}, "1 to 99, not 0"),
        ({"policy": "rr", "priority": 100}, "1 to 99, not 100"),
        ({"policy": "fifo", "priority": 1, "nice": 3}, "knows no nice value"),
        ({"policy": "batch", "priority": 1}, "belongs to the policies fifo and rr"),
        ({"policy": "ext"}, "there is no policy 'ext'"),
        ({"policy": "deadline"}, "runtime ≤ deadline ≤ period"),
        ({"policy": "deadline", "runtime": 0.2, "deadline": 0.1}, "runtime ≤ deadline"),
        ({"policy": "deadline", "runtime": float("nan")}, "are seconds, 0 and above"),
        ({"policy": "deadline", "runtime": -0.1}, "are seconds, 0 and above"),
        ({"nice": 1, "runtime": 0.1}, "belong to the policy deadline"),
    ],
)
def test_contradictions_are_refused_before_anything_is_set(arguments: dict[str, Any], message: str) -> None:
    """The message says what goes together."""
    kernel = RefusingScheduler()
    with pytest.raises(cpu.CpuError, match=message):
        cpu.priority(scheduler=kernel, **arguments)
    assert kernel.all_attributes == {}


@pytest.mark.parametrize("text", ["", "high", "java:x", "java:", "1.5"])
def test_what_is_no_priority(text: str) -> None:
    """The ways to write one are named."""
    with pytest.raises(cpu.CpuError, match="write -20 to 19, java:1 to java:10, or android:NAME"):
        cpu.nice_of(text)


def test_nice_needs_a_limit_or_root() -> None:
    """A user is told the limit, its value, and two ways to raise it: one's own is that of the shell."""
    answer = as_nobody(lambda: str(cpu.priority(nice=-5)))
    assert answer.startswith("ForbiddenError: nice -5 of thread")
    assert "RLIMIT_NICE allows" in answer
    assert "prlimit --nice=25 --pid $$, or" in answer
    assert "limits.conf" in answer


def test_a_name_is_no_thread() -> None:
    """Text is not taken for a sequence of threads."""
    with pytest.raises(cpu.CpuError, match="'worker' is no thread; give a native id, a Python thread, or"):
        cpu.priority("worker", nice=5)  # type: ignore[arg-type]


def test_real_time_needs_a_limit_or_root() -> None:
    """The same for real-time priorities."""
    answer = as_nobody(lambda: str(cpu.priority(policy="fifo", priority=9)))
    assert "RLIMIT_RTPRIO is 0" in answer
    assert "prlimit --rtprio=9 --pid $$, or" in answer


def test_what_was_raised_cannot_be_lowered_without_rights() -> None:
    """`restore()` of an unprivileged nice value says so instead of leaving it in silence."""

    def body() -> str:
        cpu.priority(nice=5).restore()
        return "restored"

    answer = as_nobody(body)
    assert answer.startswith("ForbiddenError: nice 0 of thread")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A thread on a made-up machine."""
    machine = Machine(tmp_path, range(4))
    ProcThread(pid=100, tid=101).put(machine)
    return machine


def test_a_group_without_real_time_budget(machine: Machine) -> None:
    """RT_GROUP_SCHED's EPERM, which hits root too, names the file to write."""
    machine.write("proc/self/mountinfo", "4 1 0:3 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu")
    machine.write("proc/100/cgroup", "2:cpu:/box")
    machine.write("sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", 0)
    kernel = RefusingScheduler()
    kernel.refuse["set_attributes"] = errno.EPERM
    with pytest.raises(cpu.ForbiddenError, match=r"/box has no real-time budget.*box/cpu.rt_runtime_us"):
        cpu.priority(101, policy="fifo", priority=1, tree=machine.tree, scheduler=kernel)


def test_a_nice_value_keeps_batch_and_ends_real_time(machine: Machine) -> None:
    """A nice value alone leaves a policy that has such values, and replaces one that has none."""
    kernel = RefusingScheduler()
    kernel.all_attributes[101] = Attributes(policy=3, nice=1)
    assert cpu.priority(101, nice=5, tree=machine.tree, scheduler=kernel).changes[0].after.policy == 3
    kernel.all_attributes[101] = Attributes(policy=1, priority=50)
    assert cpu.priority(101, nice=5, tree=machine.tree, scheduler=kernel).changes[0].after == Attributes(0, 5)


def test_another_hand_is_noticed(machine: Machine) -> None:
    """If something else is read back, that is an error, not a success."""

    class Ignores(RefusingScheduler):
        def set_attributes(self, tid: int, wanted: Attributes) -> None:
            """Takes the call and does nothing, as some sandboxes do."""

    with pytest.raises(cpu.CpuError, match="has nice 0 instead of nice 5 right after it was set"):
        cpu.priority(101, nice=5, tree=machine.tree, scheduler=Ignores())


def test_autogroups_are_told(machine: Machine) -> None:
    """A nice value counts within the session where autogroups are on and no control group decides."""
    machine.write("proc/sys/kernel/sched_autogroup_enabled", 1)
    assert cpu.autogrouped([100], machine.tree) == ()
    machine.write("proc/100/autogroup", "/autogroup-137 nice 0")
    assert cpu.autogrouped([100], machine.tree) == (100,)
    machine.write("proc/self/mountinfo", "4 1 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    machine.write("proc/100/cgroup", "0::/user.slice")
    assert cpu.autogrouped([100], machine.tree) == ()
    machine.write("proc/100/cgroup", "0::/")
    machine.write("proc/sys/kernel/sched_autogroup_enabled", 0)
    assert cpu.autogrouped([100], machine.tree) == ()


def test_priorities_in_words() -> None:
    """Each policy has its own words."""
    assert show_priority(Attributes(nice=-3)) == "nice -3"
    assert show_priority(Attributes(policy=2, priority=7)) == "rr 7"
    assert show_priority(Attributes(policy=5, nice=2)) == "idle, nice 2"
    deadline = Attributes(policy=6, runtime_ns=2_000_000, deadline_ns=10_000_000)
    assert show_priority(deadline) == "deadline 2 ms of 10 ms"
