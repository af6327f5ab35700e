"""What went on around a measurement: others' CPU time, time the host took, clocks that changed."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unjank._bench import step_ns

Pace = Callable[[int], float]

_OTHERS_CPUS = 0.1  # CPUs that others may use before it is worth a word
_STEAL_SHARE = 0.005
_PACE_CHANGE = 0.1
_MOST_PROBED = 4  # CPUs; each takes some milliseconds
_STEAL_FIELD = 7  # of a `cpu` line's values in /proc/stat: user nice system idle iowait irq softirq steal
_BUSY_FIELDS = (0, 1, 2, 5, 6)


@dataclass(frozen=True)
class _Snapshot:
    """Sums since boot, in clock ticks, all of the time `at_s`; and the pace of some CPUs, in ns a step."""

    at_s: float
    busy: int
    stolen: int
    own: float
    processes: Mapping[int, tuple[str, int]]
    paces: Mapping[int, float]


class Watch:
    """Looks when it is made, and again when asked; in between, a benchmark runs."""

    def __init__(self, root: Path = Path("/"), pace: Pace = step_ns) -> None:
        self._root, self._pace = root, pace
        self._before = _look(root, pace)

    def facts(self) -> dict[str, Any]:
        """What changed since, as plain JSON.

        Returns:
            `seconds`; `others_cpus`, how many CPUs others kept busy on average; `steal_share`, which part
            of all CPUs' time the host took; `neighbour`, the busiest other process, and `neighbour_cpus`;
            `pace_change`, by how much longer the same work took at the end, on the CPU where that changed
            the most, `pace_cpu`. Null where the kernel does not say.
        """
        before, after = self._before, _look(self._root, self._pace)
        seconds = max(after.at_s - before.at_s, 1e-9)
        ticks = seconds * os.sysconf("SC_CLK_TCK")
        others = after.busy - before.busy - (after.own - before.own)
        return {
            "seconds": seconds,
            "others_cpus": max(0.0, others / ticks) if after.busy else None,
            "steal_share": (after.stolen - before.stolen) / (ticks * (os.cpu_count() or 1)),
            **_neighbour(before, after, ticks),
            **_pace_change(before, after),
        }


def watch_warnings(during: Mapping[str, Any]) -> Iterator[str]:
    """What of a watch's facts makes figures doubtful, each with its cause and the way to mend it."""
    if (during.get("others_cpus") or 0) > _OTHERS_CPUS:
        who = f", most of all {during['neighbour']}" if during.get("neighbour") else ""
        yield (
            f"noisy neighbour: others kept {during['others_cpus']:.1f} CPUs busy meanwhile{who}; "
            "stop them and repeat"
        )
    if (during.get("steal_share") or 0) > _STEAL_SHARE:
        yield (
            f"steal time: the host took {during['steal_share']:.1%} of the CPUs' time for other guests; "
            "repeat when it is quiet, or on a machine of your own"
        )
    if abs(during.get("pace_change") or 0) > _PACE_CHANGE:
        yield (
            f"frequency: on CPU {during['pace_cpu']} the same work took {during['pace_change']:+.0%} at the "
            "end; fix its clock, for instance with 'unjank cpu boost', or let it cool"
        )


def _look(root: Path, pace: Pace) -> _Snapshot:
    at_s = time.monotonic()  # looking itself takes a while, which would be missing from the time between
    busy, stolen = _cpu_ticks(root)
    used = os.times()
    own = used.user + used.system + used.children_user + used.children_system
    processes = dict(_process_ticks(root))
    cpus = sorted(os.sched_getaffinity(0))
    paces = {cpu: pace(cpu) for cpu in cpus[:: -(-len(cpus) // _MOST_PROBED)]}
    return _Snapshot(at_s, busy, stolen, own * os.sysconf("SC_CLK_TCK"), processes, paces)


def _cpu_ticks(root: Path) -> tuple[int, int]:
    """Busy and stolen ticks of all CPUs together; zeros where /proc/stat is not there."""
    try:
        first = (root / "proc/stat").read_text().partition("\n")[0]
    except OSError:
        return 0, 0
    values = [int(value) for value in first.split()[1:]]
    return sum(values[n] for n in _BUSY_FIELDS), values[_STEAL_FIELD] if len(values) > _STEAL_FIELD else 0


def _process_ticks(root: Path) -> Iterator[tuple[int, tuple[str, int]]]:
    """Name and CPU ticks of each process that this user may see, but not of this one."""
    own = str(os.getpid())
    for folder in (root / "proc").glob("[1-9]*"):
        if folder.name == own:
            continue
        try:
            text = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it is gone, or hidden
        name, _, rest = text.partition("(")[2].rpartition(")")  # the name may hold brackets itself
        fields = rest.split()
        if len(fields) > 12:
            yield int(folder.name), (name, int(fields[11]) + int(fields[12]))


def _neighbour(before: _Snapshot, after: _Snapshot, ticks: float) -> dict[str, Any]:
    """The busiest process that was there before and after; those that came and went are in the sum alone."""
    spent = {
        pid: (now - before.processes[pid][1], name)
        for pid, (name, now) in after.processes.items()
        if pid in before.processes
    }
    if not spent:
        return {"neighbour": None, "neighbour_cpus": None}
    pid, (used, name) = max(spent.items(), key=lambda item: item[1])
    if used <= 0:
        return {"neighbour": None, "neighbour_cpus": None}
    return {"neighbour": f"{name!a} (process {pid})", "neighbour_cpus": used / ticks}


def _pace_change(before: _Snapshot, after: _Snapshot) -> dict[str, Any]:
    changes = {cpu: now / before.paces[cpu] - 1 for cpu, now in after.paces.items() if cpu in before.paces}
    if not changes:
        return {"pace_change": None, "pace_cpu": None}
    cpu = max(changes, key=lambda number: abs(changes[number]))
    return {"pace_change": changes[cpu], "pace_cpu": cpu}
