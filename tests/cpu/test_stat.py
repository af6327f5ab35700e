"""stat: snapshots of a process's threads, and the rates between two."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.cpu.machines import Machine, ProcThread

from unjank import cpu
from unjank.cpu.stat import Rates, Snapshot, StormLimits, ThreadRate, ThreadReader, compare
from unjank.cpu.stat.view import document, table

TWO = {0, 1}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A process with a busy thread and a quiet one."""
    machine = Machine(tmp_path, range(4))
    ProcThread(pid=100, tid=100, name="app", run_ns=10, last_cpu=1).put(machine)
    ProcThread(pid=100, tid=101, name="ping (pong)", state="R", nice=5, run_ns=20).put(machine)
    return machine


def snapshot(machine: Machine, at_ns: int) -> Snapshot:
    """A snapshot taken at that time."""
    with ThreadReader(100, machine.tree, affinity=lambda _: TWO) as reader:
        found = reader.read()
    threads = {tid: sample._replace(at_ns=at_ns) for tid, sample in found.threads.items()}
    return found._replace(at_ns=at_ns, threads=threads)


def by_tid(rates: Rates) -> dict[int, ThreadRate]:
    """Rates by thread."""
    return {rate.tid: rate for rate in rates.threads}


def test_a_snapshot_has_every_thread(machine: Machine) -> None:
    """Names with brackets, states, CPUs, counters and masks of all threads."""
    threads = snapshot(machine, 0).threads
    assert sorted(threads) == [100, 101]
    busy = threads[101]
    assert (busy.name, busy.state, busy.nice, busy.run_ns) == ("ping (pong)", "R", 5, 20)
    assert (threads[100].last_cpu, threads[100].affinity) == (1, frozenset(TWO))


def test_rates_are_per_second(machine: Machine) -> None:
    """Two snapshots half a second apart: counts double, shares are of the time that passed."""
    before = snapshot(machine, 0)
    ProcThread(
        pid=100,
        tid=101,
        run_ns=20 + 250_000_000,
        wait_ns=100_000_000,
        voluntary=3000,
        involuntary=3000,
        migrations=7,
        last_cpu=3,
    ).put(machine)
    rates = compare(before, snapshot(machine, 500_000_000))
    busy = by_tid(rates)[101]
    assert (busy.cpu_share, busy.wait_share) == (0.5, 0.2)
    assert (busy.voluntary, busy.involuntary, busy.migrations) == (6000.0, 6000.0, 14.0)
    assert (busy.last_cpu, busy.storms) == (3, ("switches",))
    assert [rate.tid for rate in rates.threads] == [101, 100]
    assert by_tid(rates)[100].storms == ()


def test_storms_of_each_kind(machine: Machine) -> None:
    """Migrations and starving are marked too, by limits that can be set."""
    before = snapshot(machine, 0)
    ProcThread(pid=100, tid=101, wait_ns=600_000_000, migrations=50).put(machine)
    after = snapshot(machine, 1_000_000_000)
    assert by_tid(compare(before, after))[101].storms == ("starved",)
    strict = StormLimits(migrations=50)
    assert by_tid(compare(before, after, strict))[101].storms == ("migrations", "starved")


def test_threads_come_and_go(machine: Machine) -> None:
    """One that came has its whole life counted, one that went is named, an id used again is both."""
    before = snapshot(machine, 0)
    for name in ("stat", "schedstat", "status", "sched"):
        (machine.root / f"proc/100/task/100/{name}").unlink()
    (machine.root / "proc/100/task/100").rmdir()
    ProcThread(pid=100, tid=101, start_ticks=9000, voluntary=5).put(machine)
    ProcThread(pid=100, tid=102, voluntary=10).put(machine)
    rates = compare(before, snapshot(machine, 1_000_000_000))
    assert (rates.started, rates.ended) == ((101, 102), (100, 101))
    assert by_tid(rates)[102].voluntary == 10.0
    assert by_tid(rates)[101].voluntary == 5.0


def test_a_kernel_without_sched_files(machine: Machine) -> None:
    """Switches come from `status` then; migrations are absent, not zero."""
    for tid in (100, 101):
        (machine.root / f"proc/100/task/{tid}/sched").unlink()
    before = snapshot(machine, 0)
    ProcThread(pid=100, tid=101, voluntary=100, migrations=None).put(machine)
    rate = by_tid(compare(before, snapshot(machine, 1_000_000_000)))[101]
    assert (rate.voluntary, rate.migrations) == (100.0, None)


def test_a_kernel_that_counts_no_time(machine: Machine) -> None:
    """Without schedstat the shares are absent, and the table says so with a dash."""
    for tid in (100, 101):
        (machine.root / f"proc/100/task/{tid}/schedstat").unlink()
    rates = compare(snapshot(machine, 0), snapshot(machine, 1_000_000_000))
    assert {rate.cpu_share for rate in rates.threads} == {None}
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123  closed at exit
    console.print(table(rates))
    assert " - " in console.export_text()


def test_snapshots_must_be_in_order(machine: Machine) -> None:
    """Time does not run backwards, nor between two processes."""
    first, second = snapshot(machine, 0), snapshot(machine, 1)
    with pytest.raises(cpu.CpuError, match="the earlier first"):
        compare(second, first)
    with pytest.raises(cpu.CpuError, match="of one process"):
        compare(first, second._replace(pid=7))


def test_no_such_process(machine: Machine) -> None:
    """Before the start it is an error, and so it is when the process ends."""
    with pytest.raises(cpu.ThreadGoneError, match="there is no process 999"):
        ThreadReader(999, machine.tree)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with ThreadReader(child.pid) as reader:
        assert child.pid in reader.read().threads
        child.communicate()
        with pytest.raises(cpu.ThreadGoneError, match=f"process {child.pid} has ended"):
            reader.read()


PINGPONG = """
import os, threading
there, back = os.pipe(), os.pipe()
def pong():
    while data := os.read(there[0], 1): os.write(back[1], data)
thread = threading.Thread(target=pong)
thread.start()
print(thread.native_id, flush=True)
for _ in range(10_000):
    os.write(there[1], b"x"); os.read(back[0], 1)
print("done", flush=True)
input()
os.close(there[1])
thread.join()
"""


@pytest.fixture
def pingpong() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A program whose two threads hand a token to and fro 10,000 times, and the second one's id."""
    child = subprocess.Popen(
        [sys.executable, "-c", PINGPONG], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    yield child, int(child.stdout.readline())
    child.communicate("\n")


def test_a_real_ping_pong_is_counted(pingpong: tuple[subprocess.Popen[str], int]) -> None:
    """Handing a token to and fro makes switches, which the kernel's own counters show for both threads."""
    child, partner = pingpong
    assert child.stdout is not None
    assert child.stdout.readline() == "done\n"
    with ThreadReader(child.pid) as reader:
        threads = reader.read().threads
    for tid in (child.pid, partner):
        switches = threads[tid].switches
        assert switches is not None
        # Whoever is woken may take the CPU at once: then its waker's switch is an involuntary one.
        assert switches.voluntary + switches.involuntary >= 5_000
        assert (threads[tid].run_ns or 1) > 0
        assert threads[tid].affinity == os.sched_getaffinity(child.pid)


def _rates() -> Rates:
    quiet = ThreadRate(7, "a[b]c", "S", 0.0, 0.0, 1.0, 0.0, 0.0, 0, 0, "nice 0", frozenset({0, 1, 2}), ())
    busy = replace(quiet, tid=8, name="busy", cpu_share=0.98765, voluntary=25_000.0, storms=("switches",))
    return Rates(6, "app", 1.0, (busy, quiet), (), ())


def test_the_table_marks_and_sorts() -> None:
    """Busiest first, names as they are, storms named, what is cut off counted."""
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123  closed at exit
    console.print(table(_rates()))
    text = console.export_text()
    assert "a[b]c" in text
    assert text.index("busy") < text.index("a[b]c")
    assert "25,000" in text
    assert "process 6 (app): 2 threads, " in text
    assert "1 in a storm" in text
    assert "0-2" in text
    console.print(table(_rates(), "tid", top=1))
    assert "1 more; --top shows them" in console.export_text()
    console.print(table(replace(_rates(), threads=_rates().threads[:1])))
    assert "process 6 (app): 1 thread, " in console.export_text()


def test_the_document_has_plain_values() -> None:
    """CPU lists as text, rates rounded, everything JSON can hold."""
    first, _ = document(_rates())["threads"]
    assert (first["cpu_share"], first["affinity"], first["storms"]) == (0.988, "0-2", ["switches"])
