"""What a looper that waits for something far away costs: its thread's CPU time over an idle second."""

import threading
import time
from pathlib import Path

from unjank import Handler, HandlerThread
from unjank.bench._report import Goal, Report
from unjank.bench._run import Progress, Scale
from unjank.bench.queue._settings import WEEK_S, nothing

_IDLE_S = 1.0
_SETTLE_S = 0.05  # for the thread to fall asleep after its last message


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`idle_cpu_share`: CPU time over wall time; 0 is the goal, and exactly 0."""
    progress("idle looper")
    seconds = _IDLE_S / scale.divisor
    used, span = [], []
    for _ in range(min(3, scale.repeats)):
        cpu_ns, wall_ns = _idle(seconds)
        used.append(float(cpu_ns))
        span.append(float(wall_ns))
    report.add("idle_cpu_time", "ns", used, of="looper", seconds=seconds)
    report.compare("idle_cpu_share", used, span, of="CPU time", goal=Goal(0.0, at_least=False))


def _idle(seconds: float) -> tuple[int, int]:
    with HandlerThread("idle") as thread:
        handler = Handler(thread.looper)
        handler.post_delayed(nothing, WEEK_S)
        thread_ids: list[int] = []
        handler.run_with_scissors(lambda: thread_ids.append(threading.get_native_id()))
        time.sleep(_SETTLE_S)
        before, begin = _run_ns(thread_ids[0]), time.monotonic_ns()
        time.sleep(seconds)
        return _run_ns(thread_ids[0]) - before, time.monotonic_ns() - begin


def _run_ns(thread_id: int) -> int:
    """CPU time of a thread of this process, in ns (Documentation/scheduler/sched-stats.rst)."""
    return int(Path(f"/proc/self/task/{thread_id}/schedstat").read_text().split()[0])
