"""Real recordings of this machine's scheduler, read back by the real trace processor."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from unjank import TraceProcessor
from unjank.record.sched import FtraceSession

ROUNDS = 300


@dataclass(frozen=True)
class Player:
    """One thread's game, and what the kernel itself counted meanwhile."""

    tid: int
    switches: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Game:
    """A recorded game: two threads on one CPU that take turns through two pipes."""

    path: Path
    session: FtraceSession
    players: tuple[Player, Player]
    trace: Any


def _switches(status: bytes) -> int:
    return sum(int(line.split()[1]) for line in status.splitlines() if b"ctxt_switches" in line)


def _play(receive: int, send: int, begins: bool) -> Player:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    tid = threading.get_native_id()
    status = os.open(f"/proc/self/task/{tid}/status", os.O_RDONLY)
    # Clock and counters next to each other, nothing else between: each lock that Python takes can yield.
    start_ns, before = time.clock_gettime_ns(time.CLOCK_BOOTTIME), os.pread(status, 1 << 16, 0)
    if begins:
        os.write(send, b"x")
    for _ in range(ROUNDS):
        os.read(receive, 1)
        os.write(send, b"x")
    after, end_ns = os.pread(status, 1 << 16, 0), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    os.close(status)
    return Player(tid, _switches(after) - _switches(before), start_ns, end_ns)


def play() -> tuple[Player, Player]:
    """Plays one game."""
    (first_in, second_out), (second_in, first_out) = os.pipe(), os.pipe()
    try:
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(_play, first_in, first_out, True)
            second = pool.submit(_play, second_in, second_out, False)
            return first.result(), second.result()
    finally:
        for fd in (first_in, second_out, second_in, first_out):
            os.close(fd)


@pytest.fixture(scope="module")
def game(real_tracefs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    """One recorded game, shared by the tests that only look."""
    path = tmp_path_factory.mktemp("ftrace") / "game.pftrace"
    with FtraceSession(path) as session:
        players = play()
    with TraceProcessor(str(path)) as trace:
        yield Game(path, session, players, trace)


def rows(trace: Any, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    result = trace.query(sql)
    return [tuple(getattr(row, name) for name in result.column_names) for row in result]


def test_each_switch_the_kernel_counted_is_in_the_trace(game: Game) -> None:
    """Between two moments, a thread has as many rows in `sched` as the kernel counted switches."""
    # Some virtual machines don't report that a CPU leaves its idle thread; the engine counts those.
    ((unreported,),) = rows(game.trace, "select value from stats where name = 'mismatched_sched_switch_tids'")
    for player in game.players:
        sql = f"""select count(*) from sched join thread using (utid) where tid = {player.tid}
                  and ts + dur between {player.start_ns} and {player.end_ns}"""
        ((recorded,),) = rows(game.trace, sql)
        # A switch between reading the clock and the counters, at either end, is in the trace only.
        assert player.switches - unreported <= recorded <= player.switches + 2
        assert player.switches >= ROUNDS // 2


def test_who_woke_whom_is_recorded(game: Game) -> None:
    """A player that sleeps is woken by the other; one that never sleeps needs no waking."""
    first, second = (player.tid for player in game.players)
    sql = """select distinct woken.tid as woken, waker.tid as waker from thread_state
             join thread woken using (utid) join thread waker on waker.utid = waker_utid"""
    wakers = {(row.woken, row.waker) for row in game.trace.query(sql)}
    assert {(first, second), (second, first)} & wakers


def test_threads_belong_to_their_process(game: Game) -> None:
    """Threads that began while recording, and the reader's own, are this process's."""
    tids = ", ".join(str(player.tid) for player in game.players)
    sql = f"select distinct pid from thread join process using (upid) where tid in ({tids})"
    assert rows(game.trace, sql) == [(os.getpid(),)]
    sql = "select pid from thread join process using (upid) where thread.name = 'unjank ftrace'"
    assert (os.getpid(),) in rows(game.trace, sql)


def test_processes_have_their_command_lines(game: Game) -> None:
    """Ours, and that of a program that did nothing but exist beside us."""
    for pid in (os.getpid(), os.getppid()):
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().removesuffix(b"\0").split(b"\0")
        expected = b" ".join(arguments).decode()
        assert rows(game.trace, f"select cmdline from process where pid = {pid}") == [(expected,)]


def test_nothing_is_lost_and_the_engine_complains_of_nothing(game: Game) -> None:
    """All that the rings took in is in the trace, whole."""
    stats = game.session.stats
    assert (stats.lost_events, stats.malformed_pages, stats.sink_failed) == (0, 0, False)
    assert stats.events >= 2 * ROUNDS
    assert stats.bytes == game.path.stat().st_size
    # Some virtual machines don't report that a CPU leaves its idle thread; that is not the trace's fault.
    sql = """select name, value from stats where severity in ('error', 'data_loss') and value != 0
             and name != 'mismatched_sched_switch_tids'"""
    assert rows(game.trace, sql) == []


def test_the_kernel_release_is_known(game: Game) -> None:
    """Without it the engine could not tell a preempted thread from a waiting one."""
    sql = "select str_value from metadata where name = 'system_release'"
    assert rows(game.trace, sql) == [(os.uname().release,)]


def test_the_instance_is_removed(game: Game, real_tracefs: Path) -> None:
    """Nothing is left behind in tracefs."""
    assert game.session.stats.instance_left is None
    assert not list((real_tracefs / "instances").glob(f"unjank-{os.getpid()}*"))


def test_other_tracing_is_not_touched(real_tracefs: Path, tmp_path: Path) -> None:
    """The machine's own tracing state is the same before, while and after."""
    knobs = ["tracing_on", "set_event", "current_tracer", "trace_clock", "buffer_size_kb"]

    def state() -> list[str]:
        return [(real_tracefs / knob).read_text() for knob in knobs]

    before = state()
    with FtraceSession(tmp_path / "out.pftrace"):
        assert state() == before
    assert state() == before


def test_two_sessions_run_side_by_side(real_tracefs: Path, tmp_path: Path) -> None:
    """Each has an instance and a file of its own."""
    with FtraceSession(tmp_path / "a") as first, FtraceSession(tmp_path / "b") as second:
        play()
    assert first.stats.events >= second.stats.events >= 2 * ROUNDS
    assert not list((real_tracefs / "instances").glob(f"unjank-{os.getpid()}*"))


def test_a_program_that_starts_with_the_recording_is_one_thread(real_tracefs: Path, tmp_path: Path) -> None:
    """Named by the first look at /proc and born in the events, it is not taken for two."""
    path = tmp_path / "out.pftrace"
    with FtraceSession(path), subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        play()
        assert child.stdin is not None
        child.stdin.close()
        child.wait()
    with TraceProcessor(str(path)) as trace:
        assert rows(trace, f"select count(*) from thread where tid = {child.pid}") == [(1,)]
        sql = f"select name from thread where tid = {child.pid}"
        assert rows(trace, sql) == [("cat",)]
