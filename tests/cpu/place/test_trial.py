"""Trials: a plan is measured, kept if better, and put back otherwise."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.cpu.machines import Machine
from tests.cpu.place.graphs import graph
from tests.cpu.place.live import running_apart

from unjank.cpu import CpuError, ThreadGoneError, read_topology
from unjank.cpu.place import (
    Limits,
    Measured,
    Placement,
    Plan,
    WakeGraph,
    make_plan,
    read_counter,
    record_wakeups,
    try_plan,
)
from unjank.cpu.place.trial import judge
from unjank.cpu.place.wakeups import Member

ALLOWED = os.sched_getaffinity(0)
ONE = frozenset({min(ALLOWED)})


def measured(rate: float, crossed: float = 100.0, load: float = 1.0) -> Measured:
    """Figures of which only some matter."""
    return Measured(rate, switches=0.0, wakeups=0.0, crossed=crossed, load=load)


@pytest.mark.parametrize(
    ("before", "after", "gains", "kept", "words"),
    [
        (measured(100), measured(200), [2.0, 1.9, 2.1], True, "2.00 times what it was"),
        (measured(100), measured(120), [1.3, 0.9, 1.2], False, "not in each round: 1.30, 0.90, 1.20"),
        (measured(100), measured(90), [0.9], False, "fell to 0.90"),
        (measured(100), measured(101, crossed=10, load=0.8), [1.01], True, "10% of the cross-core"),
        (measured(100), measured(101, crossed=10, load=1.5), [1.01], False, "costs no less"),
        (measured(100), measured(101, crossed=90), [1.01], False, "costs no less"),
        (measured(0), measured(50), [0.0], False, "measure longer"),
    ],
)
def test_what_counts_as_better(
    before: Measured, after: Measured, gains: list[float], kept: bool, words: str
) -> None:
    """A higher rate in every round, or the same for less; everything else is put back."""
    decision, reason = judge(before, after, gains)
    assert decision is kept
    assert words in reason


@pytest.fixture
def child() -> Iterator[int]:
    """A process that waits."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate()


def plan_of(pid: int, machine: Machine) -> Plan:
    """A plan that binds a process's main thread to one CPU."""
    made = graph(machine.topology(), {1: 0.5}, {})
    member = Member(1, pid, pid, "main", 0.5, {})
    return Plan((Placement((member,), ONE, "cpu", "because"),), (), made, 0.0)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine for graphs."""
    return Machine(tmp_path, range(4))


def recorder(
    machine: Machine, pid: int, rate: Callable[[bool], float]
) -> Callable[[Sequence[int], float, Callable[[float], object]], WakeGraph]:
    """Records nothing: hand-overs are those that `rate` says for a bound or an unbound process."""

    def record(pids: Sequence[int], _: float, sleep: Callable[[float], object]) -> WakeGraph:
        assert list(pids) == [pid]
        sleep(0.0)
        bound = os.sched_getaffinity(pid) == ONE
        return graph(machine.topology(), {pid: 0.1, 2: 0.1}, {(pid, pid): rate(bound)})

    return record


def test_a_better_plan_stays(machine: Machine, child: int) -> None:
    """Bound it hands over more often: the plan is in force afterwards."""
    record = recorder(machine, child, lambda bound: 500.0 if bound else 100.0)
    outcome = try_plan(plan_of(child, machine), 0.0, 2, record=record)
    assert (outcome.kept, outcome.before.rate, outcome.after.rate) == (True, 100.0, 500.0)
    assert outcome.rate_of == "hand-overs"
    assert os.sched_getaffinity(child) == ONE


def test_a_worse_plan_is_put_back(machine: Machine, child: int) -> None:
    """Bound it is slower: the old mask is there again."""
    record = recorder(machine, child, lambda bound: 50.0 if bound else 100.0)
    outcome = try_plan(plan_of(child, machine), 0.0, 2, record=record)
    assert not outcome.kept
    assert os.sched_getaffinity(child) == ALLOWED


def test_a_failed_measurement_puts_back(machine: Machine, child: int) -> None:
    """An error while the plan is in force leaves the old mask."""

    def record(pids: Sequence[int], _: float, sleep: Callable[[float], object]) -> WakeGraph:
        if os.sched_getaffinity(child) == ONE:
            raise ThreadGoneError("gone")
        return graph(machine.topology(), {child: 0.1}, {})

    with pytest.raises(ThreadGoneError):
        try_plan(plan_of(child, machine), 0.0, 1, record=record)
    assert os.sched_getaffinity(child) == ALLOWED


def test_the_programs_own_counter_counts(machine: Machine, child: int, tmp_path: Path) -> None:
    """With a counter its growth is the rate, whatever the hand-overs do."""
    path = tmp_path / "count"
    path.write_text("0 jobs")
    done = [0.0]

    def record(_: Sequence[int], seconds: float, sleep: Callable[[float], object]) -> WakeGraph:
        sleep(seconds)
        return graph(machine.topology(), {child: 0.1}, {})

    def counter() -> float:
        done[0] += 1000.0 if os.sched_getaffinity(child) == ONE else 1.0
        return done[0]

    assert read_counter(path)() == 0.0
    outcome = try_plan(plan_of(child, machine), 0.01, 1, counter, record=record)
    assert (outcome.rate_of, outcome.kept) == ("counter", True)


@pytest.mark.parametrize("text", ["", "many", "\xff"])
def test_a_counter_without_a_number(tmp_path: Path, text: str) -> None:
    """It is refused before anything is tried; so is a file that is not there."""
    path = tmp_path / "count"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CpuError, match=r"holds no number to count by|cannot be read"):
        read_counter(path)
    with pytest.raises(CpuError, match="cannot be read"):
        read_counter(tmp_path / "nothing")


def test_nothing_to_apply(machine: Machine) -> None:
    """A plan without placements cannot be tried."""
    empty = Plan((), (), graph(machine.topology(), {1: 0.1}, {}), 0.0)
    with pytest.raises(CpuError, match="nothing to apply"):
        try_plan(empty)


@pytest.fixture
def apart() -> Iterator[int]:
    """A program whose two threads hand a token to and fro between two CPUs."""
    with running_apart() as pid:
        yield pid


def test_a_live_program_is_recorded_and_planned(apart: int) -> None:
    """On the running kernel: its wake-ups go to another CPU, and the plan puts both on one."""
    recorded = record_wakeups([apart], 0.5)
    pairs = {(recorded.members[e.waker].tid, recorded.members[e.woken].tid): e for e in recorded.edges}
    assert len(pairs) == 2
    for edge in recorded.edges:
        assert edge.crossed_per_s >= 0.9 * edge.per_s
    plan = make_plan(recorded, read_topology(), Limits(tight_per_s=1.0, crossed_per_s=1.0))
    (placement,) = plan.placements
    assert len(placement.cpus) == 1
    assert len(placement.members) == 2


def test_a_process_that_is_not_there() -> None:
    """It is told before anything is recorded."""
    with pytest.raises(ThreadGoneError, match="there is no process 999999999"):
        record_wakeups([999_999_999], 1.0)
