"""The programs that ours is compared with."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.bench.pingpong import Case, Placement
from unjank.bench.pingpong import _peers as peers
from unjank.bench.pingpong._bare import BareRun, read_bare, run_bare

CPU = min(os.sched_getaffinity(0))


def test_the_bare_program_measures_threads_and_processes() -> None:
    """It says how long a tenth of the rounds took; for threads also their CPU time."""
    where = Placement("same-cpu", CPU, CPU)
    threads = run_bare(Case("pipe", "threads", where), 200)
    assert threads.tenth_ns > 0
    assert threads.cpu_ns is not None
    processes = run_bare(Case("pipe", "processes", where), 200)
    assert processes.tenth_ns > 0
    assert processes.cpu_ns is None


def test_a_bare_program_that_fails_is_one_line() -> None:
    """What the kernel said is in the error."""
    with pytest.raises(UnjankError, match=r"C program to compare with failed: .*pinning: Invalid argument"):
        run_bare(Case("pipe", "threads", Placement("given", 1023, 1023)), 10)


def test_the_bare_programs_line_is_read() -> None:
    """CPU time, or -1 for none, and the wall time of each tenth, of which the median counts."""
    assert read_bare("900 10 11 12\n") == BareRun(900, 11)
    assert read_bare("-1 10 99 12\n") == BareRun(None, 12)


def test_figures_of_the_peers_are_read() -> None:
    """Of perf come microseconds of a round, two switches; of lmbench those of one switch."""
    told = (
        "# Executed 100 pipe operations between two threads\n\n  Total time: 0.001 [sec]\n\n  4.25 usecs/op\n"
    )
    assert peers.read_perf(told) == pytest.approx(2_125)
    assert peers.read_lat_ctx('\n"size=0k ovr=0.62\n2 1.21\n') == pytest.approx(1_210)
    with pytest.raises(UnjankError, match="lat_ctx gave no figure"):
        peers.read_lat_ctx("")


def test_a_missing_peer_is_left_out_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names what to install."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(peers, "_LMBENCH", peers._LMBENCH / "not-there")
    left_out: dict[str, str] = {}
    assert list(peers.installed(left_out.__setitem__, CPU)) == []
    assert "linux-perf" in left_out["same_core_vs_perf_pipe"]
    assert "lmbench" in left_out["same_core_vs_lat_ctx"]


def test_peers_that_are_installed_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what they print, perf to standard output and lmbench to standard error."""
    for name, said in (("perf", "echo '  4.0 usecs/op'"), ("lat_ctx", "echo '2 1.5' >&2")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{said}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    left_out: dict[str, str] = {}
    assert list(peers.installed(left_out.__setitem__, CPU)) == ["perf_pipe", "lat_ctx"]
    assert left_out == {}
    assert [measure(CPU, 100) for measure in peers.PEERS.values()] == [2_000.0, 1_500.0]


def test_a_peer_is_bound_and_this_thread_is_not() -> None:
    """The program runs on the one CPU; who started it keeps its mask, as do later threads."""
    mask = os.sched_getaffinity(0)
    told = peers._run_on(CPU, "sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    assert told.split()[-1] == str(CPU)
    seen: list[set[int]] = []
    thread = threading.Thread(target=lambda: seen.append(os.sched_getaffinity(0)))
    thread.start()
    thread.join()
    assert os.sched_getaffinity(0) == seen[0] == mask


def test_a_peer_that_fails_says_why() -> None:
    """Its last line is in the error."""
    with pytest.raises(UnjankError, match="sh failed: no such thing"):
        peers._run_on(CPU, "sh", "-c", "echo no such thing >&2; exit 1")
