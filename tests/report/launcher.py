"""The trace that most tests of reports read: a UI thread that waits for one without a CPU."""

from tests.findings.builder import MS, Run, TraceBuilder


def launcher(ui: str = "UI thread", process: str = "launcher.py", sched: bool = True) -> TraceBuilder:
    """A UI thread that waits 18.2 ms for a thread that two others keep off the CPU."""
    trace = TraceBuilder()
    trace.process(100, process)
    trace.session(100, sched="ftrace")
    names = (ui, "BackgroundExecutor", "camera-0", "camera-1")
    waiter, owner, first, second = (trace.thread(100, 101 + n, name) for n, name in enumerate(names))
    end = 28 * MS + 200_000
    lock, site = "Queue._lock (launcher.py:41)", "Queue.post()(launcher.py:77)"
    trace.contention(waiter, owner, 10 * MS, end, lock=lock, owner_site=site)
    if sched:
        runs = [
            Run(waiter, 9 * MS, 10 * MS),
            Run(owner, 10 * MS, 11 * MS, "R+", 130),
            Run(first, 11 * MS, 20 * MS, "S", 125),
            Run(second, 20 * MS, 26 * MS + 900_000, "S", 125),
            Run(owner, 26 * MS + 900_000, end, "S", 130),
            Run(waiter, end, 29 * MS),
        ]
        trace.schedule(0, runs)
    return trace
