"""unjank cpu: reading all threads of a process of 1,000 threads, as `stat` does for each sample.

Goal: at most 50 ms. Reading is one thread's work, so it is measured in CPU time as well: on a busy machine
that is what another run can be compared with. The peer reads what psutil knows of a thread, which is neither
run-queue wait nor migrations nor last CPU.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

from benchmarks._report import Report, ratio, result
from unjank.cpu.stat import ThreadReader, compare

_THREADS = 1_000
_REPETITIONS = 15
_GOAL_S = 0.050
_MANY_THREADS = f"""
import threading
threading.stack_size(1 << 16)
end = threading.Event()
for _ in range({_THREADS} - 1):
    threading.Thread(target=end.wait, daemon=True).start()
print("ready", flush=True)
input()
"""


def run() -> Report:
    """Starts the process, then reads it in turn by each way."""
    child = subprocess.Popen(
        [sys.executable, "-c", _MANY_THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    child.stdout.readline()
    try:
        return _measure(child.pid)
    finally:
        child.kill()
        child.communicate()


def _measure(pid: int) -> Report:
    ours: list[float] = []
    ours_cpu: list[float] = []
    rates_cpu: list[float] = []
    peer_cpu: list[float] = []
    with ThreadReader(pid) as reader:
        before = reader.read()
        assert len(before.threads) == _THREADS
        for _ in range(_REPETITIONS):
            wall, cpu, now = _timed(reader.read)
            ours.append(wall)
            ours_cpu.append(cpu)
            rates_cpu.append(_timed(lambda: compare(before, now))[1])  # noqa: B023  called at once
            peer_cpu.append(_timed(lambda: _psutil_reads(pid))[1])
            before = now
    goals = [_GOAL_S] * _REPETITIONS
    return {
        "results": [
            result("stat_read_1000_threads", "s", ours, threads=_THREADS, goal=_GOAL_S),
            result("stat_read_1000_threads_cpu", "s", ours_cpu, threads=_THREADS, goal=_GOAL_S),
            result("stat_rates_1000_threads_cpu", "s", rates_cpu, threads=_THREADS),
            result("psutil_read_1000_threads_cpu", "s", peer_cpu, threads=_THREADS),
        ],
        "ratios": {
            "stat_read_vs_goal_50_ms": ratio(ours, goals),
            "stat_read_cpu_vs_goal_50_ms": ratio(ours_cpu, goals),
            "stat_read_cpu_vs_psutil": ratio(ours_cpu, peer_cpu),
        },
    }


def _psutil_reads(pid: int) -> list[Any]:
    """What psutil tells of each thread: it takes a thread's id for a process's."""
    facts = []
    for thread in psutil.Process(pid).threads():
        each = psutil.Process(thread.id)
        with each.oneshot():
            facts.append(
                (each.name(), each.status(), each.nice(), each.num_ctx_switches(), each.cpu_affinity())
            )
    return facts


def _timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    value = action()
    return time.perf_counter() - wall, time.process_time() - cpu, value
