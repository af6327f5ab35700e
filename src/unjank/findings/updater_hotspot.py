"""Finding `updater-hotspot`: time spent in Atomic*FieldUpdater, seen in ART method traces."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unjank.findings._evidence import Evidence
from unjank.findings._model import Finding, Json, Severity
from unjank.findings._sentences import listed, short_method
from unjank.findings._threads import Thread
from unjank.findings._units import counted, format_duration

KIND = "updater-hotspot"

LARGE_SHARE = 0.05  # of a thread's traced time
NOTABLE_SHARE = 0.01
_MOST_LISTED = 20


@dataclass(frozen=True)
class Hotspot:
    """The calls of one process.

    Attributes:
        rows: By thread and caller, most time first.
        thread: The thread that spent the largest share of its time in them.
        share: That share.
    """

    rows: Sequence[Any]
    thread: Thread
    share: float

    @property
    def total(self) -> int:
        """Time in all calls, ns."""
        return sum(row.total_ns for row in self.rows)

    @property
    def count(self) -> int:
        """Number of calls that the trace has; a sampled trace has a part of them."""
        return sum(row.count for row in self.rows)


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per process that called them."""
    processes: dict[int | None, list[Any]] = defaultdict(list)
    for row in evidence.rows(KIND):
        processes[row.upid].append(row)
    for rows in processes.values():
        yield _finding(_hotspot(evidence, rows))


def severity(share: float) -> Severity:
    """High if a thread spent 5 % of its traced time in them, medium from 1 %."""
    if share >= LARGE_SHARE:
        return Severity.HIGH
    return Severity.MEDIUM if share >= NOTABLE_SHARE else Severity.LOW


def _hotspot(evidence: Evidence, rows: Sequence[Any]) -> Hotspot:
    spent: dict[int, int] = defaultdict(int)
    traced = {row.utid: row.traced_ns for row in rows}
    for row in rows:
        spent[row.utid] += row.total_ns
    shares = {utid: total / max(traced[utid], 1) for utid, total in spent.items()}
    utid = max(shares, key=lambda each: shares[each])
    return Hotspot(rows, evidence.threads[utid], shares[utid])


def _finding(hotspot: Hotspot) -> Finding:
    longest = max(hotspot.rows, key=lambda row: row.worst_ns)
    callers = _by(hotspot.rows, lambda row: _method(row.caller))
    return Finding(
        kind=KIND,
        severity=severity(hotspot.share),
        process=hotspot.thread.process,
        thread=hotspot.thread.name,
        owner=None,
        where=callers[0][0],
        owner_where=None,
        ts_ns=longest.ts,
        dur_ns=longest.worst_ns,
        count=hotspot.count,
        advice=_advice(callers),
        detail=_detail(hotspot, callers),
    )


_Sum = tuple[str, int, int, int]  # name, count, total and worst in ns


def _by(rows: Sequence[Any], name: Callable[[Any], str]) -> list[_Sum]:
    """Adds the calls up by `name`, most time first."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[name(row)].append(row)
    sums = [
        (key, sum(r.count for r in same), sum(r.total_ns for r in same), max(r.worst_ns for r in same))
        for key, same in groups.items()
    ]
    return sorted(sums, key=lambda each: (-each[2], each[0]))


def _detail(hotspot: Hotspot, callers: Sequence[_Sum]) -> dict[str, Json]:
    threads = _by(hotspot.rows, lambda row: row.thread_name or f"thread {row.tid}")
    return {
        "lock": None,
        "total_ns": hotspot.total,
        "share": round(hotspot.share, 6),
        "check_ns": sum(row.check_ns for row in hotspot.rows),
        "callers": [_entry("where", each) for each in callers[:_MOST_LISTED]],
        "threads": [_entry("thread", each) for each in threads[:_MOST_LISTED]],
        "summary": _summary(hotspot, callers),
    }


def _summary(hotspot: Hotspot, callers: Sequence[_Sum]) -> str:
    together = f"{format_duration(hotspot.total)} in {counted(hotspot.count, 'call')}"
    return (
        f"{hotspot.thread.name} spent {_percent(hotspot.share)} of its traced time in Atomic*FieldUpdater; "
        f"all threads together {together}, above all for {short_method(callers[0][0])}."
    )


def _entry(kind: str, entry: _Sum) -> dict[str, Json]:
    name, count, total, worst = entry
    return {kind: name, "count": count, "total_ns": total, "worst_ns": worst}


def _advice(callers: Sequence[_Sum]) -> str:
    packages = list(dict.fromkeys(_package(name) for name, *_ in callers))
    return (
        "Make the calls direct, without their checks by reflection: 'unjank atomics optimize' on the jars of "
        f"{listed(packages)}."
    )


def _method(name: str | None) -> str:
    """The method of a slice: `a.B.c()` of `a.B.c: (I)V`."""
    return "unknown" if not name else f"{name.partition(':')[0]}()"


def _package(method: str) -> str:
    """The first two names of a method's package, which tell the library: `kotlinx.coroutines`."""
    names = method.split(".")[:-2]
    return ".".join(names[:2]) or method


def _percent(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 else "less than 0.1%"
