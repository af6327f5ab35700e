"""The recorder: what a lock costs, what a working program costs, events on disk, memory over a long run.

Goals: an uncontended acquire and release at most 3 times `threading.Lock`'s; a program that takes 10^5
locks a second over 8 threads, one in a hundred contended, at most 1.05 times its wall time unrecorded;
200 threads; at least 10^6 events a second into the file with none dropped; memory that does not grow with
the run's length.

What is compared is measured in turn, in one run. On a machine that others use, wall time says more of them
than of the recorder: the program's CPU time is given beside it.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import unjank
from benchmarks._report import Report, ratio, result
from unjank._errors import SchedulingUnavailableError
from unjank.record.sched import choose

_PROJECT = Path(__file__).resolve().parents[1]
_LOCK_REPETITIONS = 31
_LOCK_ROUNDS = 50_000
_PROGRAM_REPETITIONS = 11
_PROGRAM_ACQUIRES = 80_000
_ACQUIRES_PER_SECOND = 100_000
_CONTENDED_SHARE = 0.01
_SMALLEST_BLOCK = 2_048  # hashlib keeps the GIL for less
_THREADS = 8
_DRIVER_REPETITIONS = 3
_LEVELS = ("off", "procfs", "ftrace")


def run() -> Report:
    """Measures everything. The native driver is built first, which takes a while the first time."""
    results: list[dict[str, Any]] = []
    ratios: dict[str, Any] = {}
    _measure_locks(results, ratios)
    _measure_program(results, ratios)
    _measure_driver(results, ratios)
    return {"results": results, "ratios": ratios}


def _measure_locks(results: list[Any], ratios: dict[str, Any]) -> None:
    plain = {"Lock": threading.Lock(), "RLock": threading.RLock()}
    with tempfile.TemporaryDirectory() as folder, unjank.record(Path(folder) / "locks", sched="off"):
        recorded = {"Lock": threading.Lock(), "RLock": threading.RLock()}
        for kind in plain:
            for way, use in (("with", _use_with), ("calls", _use_calls)):
                plain_ns, recorded_ns = [], []
                for _ in range(_LOCK_REPETITIONS):
                    plain_ns.append(_lock_ns(use, plain[kind]))
                    recorded_ns.append(_lock_ns(use, recorded[kind]))
                name = f"{kind.lower()}_{way}"
                results += [
                    result(f"{name}_plain", "ns", plain_ns),
                    result(f"{name}_recorded", "ns", recorded_ns, goal="3 x plain"),
                ]
                ratios[f"recorded_vs_plain_{name}"] = ratio(recorded_ns, plain_ns)


def _lock_ns(use: Callable[[Any, int], None], lock: Any) -> float:  # noqa: ANN401  two types without a common one
    """CPU nanoseconds of one acquire and release, without those of the loop around it."""
    begin = time.thread_time_ns()
    use(lock, _LOCK_ROUNDS)
    used = time.thread_time_ns()
    _use_nothing(_LOCK_ROUNDS)
    return (2 * used - begin - time.thread_time_ns()) / _LOCK_ROUNDS


def _use_with(lock: Any, rounds: int) -> None:  # noqa: ANN401  as above
    for _ in range(rounds):
        with lock:
            pass


def _use_calls(lock: Any, rounds: int) -> None:  # noqa: ANN401  as above
    for _ in range(rounds):
        lock.acquire()
        lock.release()


def _use_nothing(rounds: int) -> None:
    for _ in range(rounds):
        pass


@dataclass(frozen=True)
class _Program:
    """The arguments with which the program does what the goal says.

    Attributes:
        block_bytes: What is hashed between two acquires: sets the number of acquires a second.
        held: Blocks hashed under the shared lock: sets the share of acquires that are contended.
    """

    block_bytes: int = 12_000
    held: int = 2

    def run(self, level: str, trace: Path) -> tuple[float, float]:
        """Wall and CPU seconds of the program's working section."""
        command = [sys.executable]
        if level != "plain":
            unjank_command = str(Path(sys.executable).with_name("unjank"))
            command = [unjank_command, "run", "--sched", level, "-o", str(trace)]
        arguments = (_THREADS, _PROGRAM_ACQUIRES, self.block_bytes, self.held)
        command += [str(Path(__file__).with_name("_recorder_workload.py")), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        wall_s, cpu_s = map(float, done.stdout.splitlines()[0].split())
        return wall_s, cpu_s


def _measure_program(results: list[Any], ratios: dict[str, Any]) -> None:
    levels = [level for level in _LEVELS if _is_available(level)]
    wall: dict[str, list[float]] = {level: [] for level in ("plain", *levels)}
    cpu: dict[str, list[float]] = {level: [] for level in ("plain", *levels)}
    shares: dict[str, list[float]] = {level: [] for level in levels}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "program.pftrace"
        program = _calibrated(trace)
        for _ in range(_PROGRAM_REPETITIONS):
            for level in wall:
                wall_s, cpu_s = program.run(level, trace)
                wall[level].append(wall_s)
                cpu[level].append(cpu_s)
                if level != "plain":
                    shares[level].append(_contentions(trace) / _PROGRAM_ACQUIRES)
    for level in wall:
        rates = [_PROGRAM_ACQUIRES / seconds for seconds in wall[level]]
        results.append(result(f"program_{level}", "acquires/s", rates, program=asdict(program)))
    for level in levels:
        results.append(result(f"program_{level}_contended", "of acquires", shares[level]))
        ratios[f"program_{level}_vs_plain_wall"] = ratio(wall[level], wall["plain"])
        ratios[f"program_{level}_vs_plain_cpu"] = ratio(cpu[level], cpu["plain"])


def _is_available(level: str) -> bool:
    if level == "off":
        return True
    try:
        choose(level)
    except SchedulingUnavailableError as error:
        print(f"  --sched {level} is not measured: {error}")
        return False
    return True


def _calibrated(trace: Path) -> _Program:
    """Finds the arguments for this machine, and for what else is going on there."""
    program = _Program()
    for _ in range(10):
        wall_s, _ = program.run("off", trace)
        share = _contentions(trace) / _PROGRAM_ACQUIRES
        faster = _PROGRAM_ACQUIRES / wall_s / _ACQUIRES_PER_SECOND
        more = _CONTENDED_SHARE / max(share, _CONTENDED_SHARE / 4)
        if 0.9 < faster < 1.25 and 0.8 < more < 1.25:
            break
        program = _Program(
            max(_SMALLEST_BLOCK, int(program.block_bytes * min(2.0, max(0.5, faster)))),
            max(1, round(program.held * min(2.0, more))),
        )
    return program


def _contentions(trace: Path) -> int:
    with unjank.TraceProcessor(trace) as tp:
        query = "SELECT COUNT(*) AS n FROM slice WHERE category = 'lock'"
        return int(next(iter(tp.query(query))).n)


def _measure_driver(results: list[Any], ratios: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        driver = _built_driver()
        if driver is None:
            return
        trace = Path(folder) / "driver.pftrace"
        _measure_throughput(driver, trace, results, ratios)
        _measure_memory(driver, trace, results, ratios)


def _built_driver() -> Path | None:
    cmake = shutil.which("cmake") or shutil.which("cmake", path=str(Path(sys.executable).parent))
    if cmake is None:
        print("  events on disk are not measured: the native driver needs cmake, which is not here")
        return None
    build = _PROJECT / "build" / "benchmarks"
    for arguments in (
        ["-S", str(_PROJECT / "native"), "-B", str(build)],
        ["--build", str(build), "--target", "recorder_throughput", "-j2"],
    ):
        subprocess.run([cmake, *arguments], check=True, stdout=subprocess.DEVNULL)
    return build / "record" / "recorder_throughput"


def _drive(driver: Path, trace: Path, *arguments: float) -> dict[str, float]:
    done = subprocess.run([driver, trace, *map(str, arguments)], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _measure_throughput(driver: Path, trace: Path, results: list[Any], ratios: dict[str, Any]) -> None:
    for threads in (_THREADS, 200):
        full = [_drive(driver, trace, threads, 0, 2) for _ in range(_DRIVER_REPETITIONS)]
        paced = [_drive(driver, trace, threads, 1.05e6, 2) for _ in range(_DRIVER_REPETITIONS)]
        full_rates = [figures["events"] / figures["wall_s"] for figures in full]
        paced_rates = [figures["events"] / figures["wall_s"] for figures in paced]
        dropped = [figures["dropped"] for figures in paced]
        name = f"events_on_disk_{threads}_threads"
        results += [
            result(name, "events/s", full_rates, goal=1e6, runs=full),
            result(f"{name}_paced", "events/s", paced_rates, runs=paced),
            result(f"{name}_paced_dropped", "begins", dropped, goal=0),
        ]
        ratios[f"{name}_vs_goal_1e6"] = ratio(full_rates, [1e6] * len(full_rates))
    cpu_ns = [1e9 * figures["cpu_s"] / figures["events"] for figures in full]
    results.append(result("event_cpu_time", "ns", cpu_ns))


def _measure_memory(driver: Path, trace: Path, results: list[Any], ratios: dict[str, Any]) -> None:
    """The same load for a short and a long time, with more texts than the interned state holds."""
    short, long = [], []
    for _ in range(_DRIVER_REPETITIONS):
        short.append(_drive(driver, trace, _THREADS, 0, 1, 60_000))
        long.append(_drive(driver, trace, _THREADS, 0, 8, 60_000))
    for name, runs in (("short", short), ("long", long)):
        events = statistics.median(run["events"] for run in runs)
        megabytes = [run["resident_kb"] / 1e3 for run in runs]
        results.append(result(f"memory_{name}_run", "MB", megabytes, events=events))
    for figure, name in (("resident_kb", "memory"), ("events", "events")):
        ratios[f"{name}_long_vs_short_run"] = ratio(
            [run[figure] for run in long], [run[figure] for run in short]
        )
