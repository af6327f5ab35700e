"""Who wakes whom: the graph of a program's threads, from the kernel's scheduling in a trace."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from unjank._errors import CpuError
from unjank.cpu.errors import AbsentError
from unjank.cpu.topology import Cpu, Topology
from unjank.trace import TraceProcessor

_MOST_SPANS = 20_000  # of running are looked at for who ran at once: enough to tell, quick to read

Row = dict[str, Any]
"""A row of one of the queries below, which give integers and names."""


@dataclass(frozen=True)
class Member:
    """A thread of the graph.

    Attributes:
        utid: The trace's own id of it.
        pid: Its process.
        tid: Native id.
        name: Its name.
        load: Share of one CPU that it used.
        run_ns: Time it ran, by CPU.
    """

    utid: int
    pid: int
    tid: int
    name: str
    load: float
    run_ns: dict[int, int]

    def __str__(self) -> str:
        return f"{self.name} ({self.tid})"


@dataclass(frozen=True)
class Edge:
    """One thread woke another; by utid.

    Attributes:
        waker: Who woke.
        woken: Whom.
        per_s: How often a second.
        crossed_per_s: How often of that to another CPU than the waker's.
    """

    waker: int
    woken: int
    per_s: float
    crossed_per_s: float


@dataclass(frozen=True)
class Concurrency:
    """How some threads ran beside each other, ns.

    Attributes:
        busy_ns: Time with at least one of them running.
        run_ns: Their running time, summed up.
        chance_ns: What `busy_ns` would be if they ran without regard to each other.
    """

    busy_ns: int
    run_ns: int
    chance_ns: float

    @property
    def at_once(self) -> float:
        """How many ran at once on average, while any did."""
        return self.run_ns / self.busy_ns if self.busy_ns else 0.0

    @property
    def avoidance(self) -> float:
        """Above 1 they avoid each other, as threads do that take turns; at 1 each goes its own way."""
        return self.busy_ns / self.chance_ns if self.chance_ns else 0.0


@dataclass(frozen=True)
class WakeGraph:
    """Threads and wake-ups over some time.

    Attributes:
        members: Threads that ran, by utid.
        edges: Wake-ups between them, most frequent first.
        seconds: The time it covers.
        switches_per_s: How often one of them took a CPU.
        topology: CPUs of the machine that was recorded, as far as the trace tells.
        concurrency: Sets of threads that wake each other, and how much they ran at once.
    """

    members: dict[int, Member]
    edges: tuple[Edge, ...]
    seconds: float
    switches_per_s: float
    topology: Topology
    concurrency: "ConcurrencyOf"


class ConcurrencyOf:
    """Answers how some threads ran beside each other; works it out once for each set."""

    def __init__(self, spans: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        """Keeps the running spans of each thread, by utid: begin and end in ns, in order."""
        self._spans = spans
        bounds = [bound for each in spans.values() for span in each for bound in span]
        self._window = max(bounds, default=0) - min(bounds, default=0)
        self._known: dict[frozenset[int], Concurrency] = {}

    def __call__(self, utids: Iterable[int]) -> Concurrency:
        """The concurrency of these threads."""
        key = frozenset(utids)
        if key not in self._known:
            self._known[key] = self._work_out([self._spans.get(utid, ()) for utid in sorted(key)])
        return self._known[key]

    def _work_out(self, threads: Sequence[Sequence[tuple[int, int]]]) -> Concurrency:
        run = [sum(end - begin for begin, end in spans) for spans in threads]
        nobody = math.prod(1 - each / self._window for each in run) if self._window else 1.0
        busy = _covered(span for spans in threads for span in spans)
        return Concurrency(busy, sum(run), chance_ns=self._window * (1 - nobody))


def _covered(spans: Iterable[tuple[int, int]]) -> int:
    covered, until = 0, 0
    for begin, end in sorted(spans):
        covered += max(end, until) - max(begin, until)
        until = max(end, until)
    return covered


def read_trace(path: Path, pids: Iterable[int] = ()) -> WakeGraph:
    """Reads the graph of one trace file; arguments and errors as of `read_wakeups`."""
    with TraceProcessor(str(path)) as tp:
        return read_wakeups(tp, pids)


def read_wakeups(tp: TraceProcessor, pids: Iterable[int] = ()) -> WakeGraph:
    """Reads the graph of some processes.

    Args:
        tp: The trace.
        pids: Which processes; the one with most wake-ups among its own threads where none is named.

    Raises:
        AbsentError: The trace has no scheduling, no such process, or none with such wake-ups.
    """
    wanted = tuple(pids) or _busiest(tp)
    listed = ", ".join(str(int(pid)) for pid in wanted)
    runs = _rows(tp, _RUNS_SQL.format(pids=listed))
    if not runs:
        raise AbsentError(
            f"the trace shows no thread of process {listed} running; record with --sched ftrace as root, "
            "while the program works"
        )
    seconds = _seconds(runs)
    spans = _rows(tp, _SPANS_SQL.format(pids=listed, most=_MOST_SPANS))
    return WakeGraph(
        members=_members(runs, seconds),
        edges=_edges(_rows(tp, _EDGES_SQL.format(pids=listed)), seconds),
        seconds=seconds,
        switches_per_s=sum(row["runs"] for row in runs) / seconds,
        topology=_topology(tp),
        concurrency=_concurrency_of(spans),
    )


def _busiest(tp: TraceProcessor) -> tuple[int, ...]:
    rows = _rows(tp, _BUSIEST_SQL)
    if not rows:
        raise AbsentError(
            "in this trace no process has threads that wake each other; record it with --sched ftrace as "
            "root, or name a process with --pid"
        )
    return (rows[0]["pid"],)


def _seconds(runs: Sequence[Row]) -> float:
    # From the first to the last that is seen of these threads: a trace may be longer than the program.
    first: int = min(row["first"] for row in runs)
    last: int = max(row["last"] for row in runs)
    return max(last - first, 1) / 1e9


def _members(runs: Sequence[Row], seconds: float) -> dict[int, Member]:
    run_ns: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for row in runs:
        run_ns[row["utid"]][row["cpu"]] = row["run_ns"]
    return {
        row["utid"]: Member(
            row["utid"],
            row["pid"],
            row["tid"],
            row["name"] or f"thread {row['tid']}",
            sum(run_ns[row["utid"]].values()) / seconds / 1e9,
            run_ns[row["utid"]],
        )
        for row in runs
    }


def _edges(rows: Sequence[Row], seconds: float) -> tuple[Edge, ...]:
    edges = [
        Edge(row["waker"], row["woken"], row["wakeups"] / seconds, row["crossed"] / seconds) for row in rows
    ]
    return tuple(sorted(edges, key=lambda edge: -edge.per_s))


def _concurrency_of(spans: Sequence[Row]) -> ConcurrencyOf:
    by_thread: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in spans:
        by_thread[row["utid"]].append((row["ts"], row["end"]))
    return ConcurrencyOf(dict(by_thread))


def _rows(tp: TraceProcessor, sql: str) -> list[Row]:
    return cast(list[Row], tp.rows(sql))


def _topology(tp: TraceProcessor) -> Topology:
    """CPUs that ran anything, with what the trace tells of clusters and capacities; often nothing."""
    seen = frozenset(row["cpu"] for row in _rows(tp, _CPUS_SQL))
    about = {row["cpu"]: row for row in _rows(tp, "SELECT cpu, cluster_id, capacity FROM cpu")}
    clusters: defaultdict[object, set[int]] = defaultdict(set)
    for cpu in seen:
        clusters[about[cpu]["cluster_id"] if cpu in about else None].add(cpu)
    cpus = [
        Cpu(
            cpu,
            online=True,
            package=0,
            siblings=frozenset({cpu}),
            cluster_cpus=frozenset(next(group for group in clusters.values() if cpu in group)),
            capacity=about[cpu]["capacity"] if cpu in about else None,
        )
        for cpu in sorted(seen)
    ]
    if not cpus:
        raise AbsentError("the trace has no scheduling; record it with --sched ftrace as root")
    return Topology(tuple(cpus), seen, described=True)


def require_two_cpus(topology: Topology) -> None:
    """Refuses to place threads where there is no choice.

    Raises:
        CpuError: There is one CPU.
    """
    if len(topology.allowed & topology.online) < 2:
        raise CpuError("there is one CPU to use, no choice where threads run; allow more, or set priorities")


_CPUS_SQL = "SELECT DISTINCT cpu FROM sched WHERE cpu IS NOT NULL"

_RUNS_SQL = """
SELECT
  s.utid, s.cpu, COUNT() AS runs, SUM(s.dur) AS run_ns, MIN(s.ts) AS first, MAX(s.ts + s.dur) AS last,
  t.tid, p.pid, t.name
FROM sched s JOIN thread t USING (utid) JOIN process p USING (upid)
WHERE p.pid IN ({pids}) AND s.dur > 0
GROUP BY s.utid, s.cpu
"""

_SPANS_SQL = """
SELECT s.utid, s.ts, s.ts + s.dur AS end
FROM sched s JOIN thread t USING (utid) JOIN process p USING (upid)
WHERE p.pid IN ({pids}) AND s.dur > 0
ORDER BY s.ts LIMIT {most}
"""

# A thread that is woken goes to state R, with its waker; where that state ends it runs.
_EDGES_SQL = """
WITH member AS (SELECT utid FROM thread JOIN process USING (upid) WHERE pid IN ({pids}))
SELECT s.waker_utid AS waker, s.utid AS woken, COUNT() AS wakeups, SUM(w.cpu != r.cpu) AS crossed
FROM thread_state s
JOIN thread_state w ON w.id = s.waker_id
JOIN thread_state r ON r.utid = s.utid AND r.ts = s.ts + s.dur
WHERE
  s.state = 'R' AND r.state = 'Running' AND COALESCE(s.irq_context, 0) = 0 AND s.utid != s.waker_utid
  AND s.utid IN (SELECT utid FROM member) AND s.waker_utid IN (SELECT utid FROM member)
GROUP BY 1, 2
"""

_BUSIEST_SQL = """
SELECT p.pid, COUNT() AS wakeups
FROM thread_state s
JOIN thread t ON t.utid = s.utid
JOIN thread w ON w.utid = s.waker_utid
JOIN process p ON p.upid = t.upid
WHERE w.upid = t.upid AND s.utid != s.waker_utid AND COALESCE(s.irq_context, 0) = 0 AND p.pid > 0
GROUP BY 1 ORDER BY 2 DESC LIMIT 1
"""
