"""Records the scheduling of the running machine for some seconds, for the graph of some processes."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from unjank.cpu.errors import AbsentError, ThreadGoneError
from unjank.cpu.place.wakeups import WakeGraph, read_trace
from unjank.record.sched import FtraceSession


def record_wakeups(
    pids: Sequence[int], seconds: float, sleep: Callable[[float], object] = time.sleep
) -> WakeGraph:
    """Records all switches and wake-ups for a while and reads the graph of some processes.

    Args:
        pids: The processes.
        seconds: For how long.
        sleep: How to wait.

    Raises:
        SchedulingUnavailableError: The kernel's scheduling can't be recorded: no root, no tracefs.
        ThreadGoneError: A process is not there.
        AbsentError: None of their threads ran meanwhile.
    """
    for pid in pids:
        if not Path(f"/proc/{pid}").exists():
            raise ThreadGoneError(f"there is no process {pid}; it has ended, or is hidden from this user")
    with tempfile.TemporaryDirectory(prefix="unjank-place-") as folder:
        path = Path(folder) / "scheduling.pftrace"
        with FtraceSession(path):
            sleep(seconds)
        return _read(path, pids, seconds)


def _read(path: Path, pids: Sequence[int], seconds: float) -> WakeGraph:
    try:
        return read_trace(path, pids)
    except AbsentError as error:
        raise AbsentError(
            f"no thread of process {', '.join(map(str, pids))} ran in {seconds:g} s; watch it while it "
            "works, or for longer: --seconds"
        ) from error
