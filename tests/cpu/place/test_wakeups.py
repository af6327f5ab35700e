"""The graph, from traces."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.findings.builder import US, Run, Thread, TraceBuilder

from unjank import TraceProcessor
from unjank.cpu import AbsentError
from unjank.cpu.place import WakeGraph, live, make_plan, read_trace, read_wakeups

ROUND = 100 * US
ROUNDS = 1_000


def pingpong(builder: TraceBuilder, pid: int, cpus: tuple[int, int], rounds: int) -> tuple[Thread, Thread]:
    """Two threads that wake each other in turn, 40 µs on each side of 100 µs, each on its own CPU."""
    builder.process(pid, f"app{pid}")
    ping, pong = builder.thread(pid, pid + 1, "ping"), builder.thread(pid, pid + 2, "pong")
    sides: tuple[list[Run], list[Run]] = ([], [])
    for number in range(rounds):
        at = 1_000_000 + number * ROUND
        sides[0].append(Run(ping, at, at + 40 * US))
        builder.waking(at + 39 * US, pong, cpus[1], by=ping, on=cpus[0])
        sides[1].append(Run(pong, at + 50 * US, at + 90 * US))
        builder.waking(at + 89 * US, ping, cpus[0], by=pong, on=cpus[1])
    for cpu, side in zip(cpus, sides, strict=True):
        builder.schedule(cpu, side)
    return ping, pong


@pytest.fixture(scope="module")
def graph() -> WakeGraph:
    """That of a process with 1,000 rounds across two CPUs, beside one with 10."""
    builder = TraceBuilder()
    pingpong(builder, 100, (0, 3), ROUNDS)
    pingpong(builder, 200, (1, 2), 10)
    with TraceProcessor(io.BytesIO(builder.data())) as tp:
        return read_wakeups(tp)


def test_who_wakes_whom_and_across_what(graph: WakeGraph) -> None:
    """The process with most wake-ups is taken; both directions are there, all to another CPU."""
    assert {member.tid for member in graph.members.values()} == {101, 102}
    rates = {(graph.members[edge.waker].tid, graph.members[edge.woken].tid): edge for edge in graph.edges}
    assert set(rates) == {(101, 102), (102, 101)}
    for edge in graph.edges:
        assert edge.per_s == pytest.approx(10_000, rel=0.01)
        assert edge.crossed_per_s == edge.per_s


def test_loads_and_concurrency(graph: WakeGraph) -> None:
    """Each ran 40 of 100 µs, and never both at once."""
    assert [member.load for member in graph.members.values()] == pytest.approx([0.4, 0.4], rel=0.01)
    together = graph.concurrency(graph.members)
    assert together.at_once == pytest.approx(1.0)
    assert graph.switches_per_s == pytest.approx(20_000, rel=0.01)


def test_a_trace_gives_a_plan(graph: WakeGraph) -> None:
    """The trace's own CPUs are where it is planned for."""
    (placement,) = make_plan(graph).placements
    assert placement.shares == "cpu"
    assert placement.cpus <= {0, 1, 2, 3}


def test_a_process_can_be_named() -> None:
    """By pid, instead of the busiest; one that is not there is an error."""
    builder = TraceBuilder()
    pingpong(builder, 100, (0, 3), 20)
    pingpong(builder, 200, (1, 2), 10)
    with TraceProcessor(io.BytesIO(builder.data())) as tp:
        assert {m.pid for m in read_wakeups(tp, [200]).members.values()} == {200}
        assert {m.pid for m in read_wakeups(tp, [100, 200]).members.values()} == {100, 200}
        with pytest.raises(AbsentError, match="no thread of process 300 running; record with --sched ftrace"):
            read_wakeups(tp, [300])


def test_a_process_that_slept_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Live, the way out is to watch longer, not to record a trace."""

    @contextmanager
    def session(path: Path) -> Iterator[None]:
        builder = TraceBuilder()
        pingpong(builder, os.getpid() + 1, (0, 3), 20)
        path.write_bytes(builder.data())
        yield

    monkeypatch.setattr(live, "FtraceSession", session)
    with pytest.raises(
        AbsentError, match=r"ran in 0\.5 s; watch it while it works, or for longer: --seconds"
    ):
        live.record_wakeups([os.getpid()], 0.5, sleep=lambda _: None)


def test_a_trace_without_scheduling(tmp_path: Path) -> None:
    """That is said, with how to record it."""
    builder = TraceBuilder()
    builder.process(100, "app")
    path = tmp_path / "x.pftrace"
    path.write_bytes(builder.data())
    with pytest.raises(AbsentError, match="no process has threads that wake each other; record it with"):
        read_trace(path)


@pytest.fixture(scope="module")
def phone_graph(traces_dir: Path) -> WakeGraph:
    """The busiest process of a real Android trace."""
    return read_trace(traces_dir / "android_jank_cpu_sampling.pftrace")


def test_a_real_android_trace(phone_graph: WakeGraph) -> None:
    """Its graph has threads with names and loads below one CPU, edges between them, and can be planned."""
    assert len(phone_graph.members) > 2
    assert all(0 <= member.load <= 1 for member in phone_graph.members.values())
    assert all(0 <= edge.crossed_per_s <= edge.per_s for edge in phone_graph.edges)
    plan = make_plan(phone_graph)
    assert plan.utids <= set(phone_graph.members)
