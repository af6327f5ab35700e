"""Scheduling for next week and cancelling at once, a million times: time, memory, and whom it wakes."""

import asyncio
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from unjank import Handler, HandlerThread
from unjank.bench._isolate import interpreter
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.queue._settings import WEEK_S, nothing

_CANCELS = 1_000_000
_YIELD_EVERY = 1_000  # a coroutine that never yields would keep asyncio from clearing cancelled timers away
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FLAT = 1.05


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`schedule_cancel_vs_call_later`, and memory after 2 x 10^6 over memory after 10^6.

    In the first million it grows to what the looper is behind at most: tombstones wait until it runs again.
    """
    count = scale.count(_CANCELS)
    progress(f"schedule and cancel, {count} times")
    _measure_time(report, scale, count)
    progress(f"memory of schedule and cancel, {count} times")
    _measure_memory(report, min(3, scale.repeats), count)


def _measure_time(report: Report, scale: Scale, count: int) -> None:
    sides = {name: functools.partial(side, count) for name, side in _SIDES.items()}
    times = interleaved(sides, min(5, scale.repeats))
    for of, values in times.items():
        report.add("schedule_cancel", "ns/timer", values, of=of, count=count, delay_s=WEEK_S)
    for name, side, goal in (
        ("schedule_cancel_vs_call_later", "looper", Goal(5)),
        ("schedule_cancel_on_own_thread_vs_call_later", "looper_own_thread", None),
    ):
        report.compare(name, times["call_later"], times[side], of="rate", goal=goal)


def _from_another_thread(count: int) -> float:
    with HandlerThread("timers") as thread:
        return _time_timers(Handler(thread.looper), count)


def _from_its_own_thread(count: int) -> float:
    taken: list[float] = []
    with HandlerThread("timers") as thread:
        handler = Handler(thread.looper)
        handler.run_with_scissors(lambda: taken.append(_time_timers(handler, count)))
    return taken[0]


def _time_timers(handler: Handler, count: int) -> float:
    schedule = handler.schedule
    begin = time.perf_counter_ns()
    for _ in range(count):
        schedule(nothing, WEEK_S).cancel()
    return (time.perf_counter_ns() - begin) / count


def _call_later(count: int) -> float:
    return asyncio.run(_time_call_later(count))


async def _time_call_later(count: int) -> float:
    call_later = asyncio.get_running_loop().call_later
    begin = time.perf_counter_ns()
    for _ in range(max(1, count // _YIELD_EVERY)):
        for _ in range(min(count, _YIELD_EVERY)):
            call_later(WEEK_S, nothing).cancel()
        await asyncio.sleep(0)
    return (time.perf_counter_ns() - begin) / count


_SIDES: dict[str, Callable[[int], float]] = {
    "looper": _from_another_thread,
    "looper_own_thread": _from_its_own_thread,
    "call_later": _call_later,
}


# ---- memory, in a process of its own, which has nothing else to give back or to reuse


def _measure_memory(report: Report, repeats: int, count: int) -> None:
    for side in ("looper", "call_later"):
        taken = [_memory(side, count) for _ in range(repeats)]
        tenth, whole, twice = ([float(sizes[i]) for sizes in taken] for i in range(3))
        for after, values in ((count // 10, tenth), (count, whole), (2 * count, twice)):
            report.add("resident", "bytes", values, of=side, after=after)
        prefix = "schedule_cancel" if side == "looper" else "call_later"
        goal = Goal(_FLAT, at_least=False) if side == "looper" else None
        report.compare(f"{prefix}_memory_first_million", whole, tenth, of="memory")
        report.compare(f"{prefix}_memory_growth", twice, whole, of="memory", goal=goal)


def _memory(side: str, count: int) -> list[int]:
    program = f"from {__name__} import print_memory; print_memory({side!r}, {count})"
    done = subprocess.run([*interpreter(), "-c", program], capture_output=True, text=True, check=True)
    sizes: list[int] = json.loads(done.stdout)
    return sizes


def print_memory(side: str, count: int) -> None:
    """Prints the resident size after a tenth of the timers, after all, and after as many again, as JSON."""
    steps = (max(1, count // 10), count - count // 10, count)
    if side == "looper":
        with HandlerThread("timers") as thread:
            sizes = _looper_memory(Handler(thread.looper), steps)
    else:
        sizes = asyncio.run(_call_later_memory(steps))
    sys.stdout.write(json.dumps(sizes))


def _looper_memory(handler: Handler, steps: Sequence[int]) -> list[int]:
    sizes = []
    for step in steps:
        _time_timers(handler, step)
        sizes.append(_resident())
    return sizes


async def _call_later_memory(steps: Sequence[int]) -> list[int]:
    sizes = []
    for step in steps:
        await _time_call_later(step)
        sizes.append(_resident())
    return sizes


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
