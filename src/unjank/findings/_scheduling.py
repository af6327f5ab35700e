"""What the kernel's scheduler did: what a thread was doing in a span of time, and who ran on a CPU."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from unjank.findings._queryable import Queryable

PRIORITY_OF_NICE_0 = 120  # the kernel's number for nice 0; below 100 are the real-time classes
_RUNNABLE = ("R", "R+")
_PRIORITY_SQL = "SELECT ts, priority FROM sched WHERE utid IN ({utids}) ORDER BY ts"
_STATE_SQL = (
    "SELECT ts, dur, state, cpu, blocked_function FROM thread_state WHERE utid IN ({utids}) ORDER BY ts"
)
_CPU_SQL = "SELECT ts, dur, utid, priority FROM sched WHERE cpu = {cpu}"
_REACHING_IN_SQL = _CPU_SQL + " AND ts < {start} ORDER BY ts DESC LIMIT 1"
_WITHIN_SQL = _CPU_SQL + " AND ts >= {start} AND ts < {end} ORDER BY ts"
# A CPU's history is read a page at a time, so that a long trace is never held as a whole.
_PAGE_NS = 100_000_000
_MOST_PAGES = 1024


@dataclass(frozen=True)
class ThreadSpan:
    """A thread in one state.

    Attributes:
        state: As in Perfetto's `thread_state`: `Running`, `R` and `R+` (could run), `S`, `D`, ….
        cpu: Where it runs, or for a runnable thread where it is kept waiting.
        other_cpu: Where else it may have been kept waiting.
        function: The kernel's function in which it was blocked, None if unknown.
    """

    start: int
    end: int
    state: str
    cpu: int | None
    other_cpu: int | None = None
    function: str | None = None

    @property
    def dur(self) -> int:
        """Length, ns."""
        return self.end - self.start

    @property
    def is_runnable(self) -> bool:
        """True if the thread could run but did not: woken and not yet on a CPU, or preempted."""
        return self.state in _RUNNABLE


@dataclass(frozen=True)
class CpuSpan:
    """One thread on one CPU, with the priority it had (kernel's number: smaller is more urgent)."""

    start: int
    end: int
    utid: int
    priority: int


class Scheduling:
    """The scheduling recorded in a trace, read as far as it is asked for."""

    def __init__(self, tp: Queryable, trace_end: int) -> None:
        self._tp = tp
        self._trace_end = trace_end
        self._states: dict[tuple[int, ...], list[ThreadSpan]] = {}
        self._pages: dict[tuple[int, int], list[CpuSpan]] = {}
        self._priorities: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}

    @cached_property
    def is_recorded(self) -> bool:
        """True if the trace has any scheduling at all."""
        return any(True for _ in self._tp.query("SELECT 1 AS one FROM sched LIMIT 1"))

    def states(self, utids: tuple[int, ...], start: int, end: int) -> list[ThreadSpan]:
        """The states of a thread, by all of its ids, within a span of time, cut to it, oldest first."""
        spans = self._thread(utids)
        first = max(bisect_right(spans, start, key=lambda s: s.start) - 1, 0)
        last = bisect_left(spans, end, key=lambda s: s.start)
        cut = (_cut_state(span, start, end) for span in spans[first:last])
        return [span for span in cut if span.dur > 0]

    def running_on(self, cpu: int, start: int, end: int) -> list[CpuSpan]:
        """Who ran on a CPU within a span of time, cut to it; idle time is left out."""
        found = []
        for page in range(start // _PAGE_NS, (end - 1) // _PAGE_NS + 1):
            # A span that began on an earlier page is listed again on each later one: cut it to the page.
            low, high = max(start, page * _PAGE_NS), min(end, (page + 1) * _PAGE_NS)
            spans = self._page(cpu, page)
            first = max(bisect_right(spans, low, key=lambda s: s.start) - 1, 0)
            last = bisect_left(spans, high, key=lambda s: s.start)
            cut = (_cut_run(span, low, high) for span in spans[first:last])
            found += [span for span in cut if span.end > span.start]
        return found

    def priority(self, utids: tuple[int, ...], ts: int) -> int | None:
        """The priority a thread last ran with at `ts`, else first ran with later; None if it never ran."""
        if utids not in self._priorities:
            rows = list(self._tp.query(_PRIORITY_SQL.format(utids=_listed(utids))))
            self._priorities[utids] = ([r.ts for r in rows], [r.priority for r in rows])
        times, priorities = self._priorities[utids]
        at = max(bisect_right(times, ts) - 1, 0)
        return priorities[at] if priorities else None

    def _thread(self, utids: tuple[int, ...]) -> list[ThreadSpan]:
        if utids not in self._states:
            self._states[utids] = list(_with_cpus(self._read_states(utids)))
        return self._states[utids]

    def _read_states(self, utids: tuple[int, ...]) -> list[ThreadSpan]:
        rows = list(self._tp.query(_STATE_SQL.format(utids=_listed(utids))))
        ends = _ends([(row.ts, self._end(row.ts, row.dur)) for row in rows])
        return [
            ThreadSpan(row.ts, end, row.state or "", row.cpu, None, row.blocked_function)
            for row, end in zip(rows, ends, strict=True)
        ]

    def _page(self, cpu: int, page: int) -> list[CpuSpan]:
        if (cpu, page) not in self._pages:
            if len(self._pages) >= _MOST_PAGES:
                self._pages.clear()
            numbers = {"cpu": int(cpu), "start": page * _PAGE_NS, "end": (page + 1) * _PAGE_NS}
            statements = (_REACHING_IN_SQL.format(**numbers), _WITHIN_SQL.format(**numbers))
            rows = [row for sql in statements for row in self._tp.query(sql)]
            ends = _ends([(row.ts, self._end(row.ts, row.dur)) for row in rows])
            self._pages[cpu, page] = [
                CpuSpan(row.ts, end, row.utid, row.priority)
                for row, end in zip(rows, ends, strict=True)
                if row.utid != 0
            ]
        return self._pages[cpu, page]

    def _end(self, ts: int, dur: int) -> int:
        return max(ts, self._trace_end) if dur < 0 else ts + dur


def _ends(bounds: list[tuple[int, int]]) -> Iterator[int]:
    """Ends each span of a CPU or a thread where its next one begins.

    A span whose end the kernel hid from tracing has none in the table, and would last to the trace's end.
    """
    for (_, end), (following, _) in pairwise(bounds):
        yield min(end, following)
    yield from (end for _, end in bounds[-1:])


def _cut_run(span: CpuSpan, start: int, end: int) -> CpuSpan:
    return CpuSpan(max(span.start, start), min(span.end, end), span.utid, span.priority)


def _cut_state(span: ThreadSpan, start: int, end: int) -> ThreadSpan:
    low, high = max(span.start, start), min(span.end, end)
    return replace(span, start=low, end=high)


def _with_cpus(spans: list[ThreadSpan]) -> Iterator[ThreadSpan]:
    """Gives runnable spans the CPU they wait for, which the kernel does not record.

    A preempted thread waits for the CPU it was taken from, a woken one for the CPU it runs on next (the
    kernel chose it when waking); the other candidate is kept too, for a thread that was moved meanwhile.
    """
    following = _next_cpus(spans)
    previous: int | None = None
    for span, upcoming in zip(spans, following, strict=True):
        if span.state == "Running":
            previous = span.cpu
        if span.is_runnable:
            preempted = span.state == "R+"
            first, second = (previous, upcoming) if preempted else (upcoming, previous)
            yield replace(span, cpu=first if first is not None else second, other_cpu=second)
        else:
            yield span


def _next_cpus(spans: list[ThreadSpan]) -> list[int | None]:
    """For each span the CPU of the next run after it."""
    upcoming: int | None = None
    cpus: list[int | None] = []
    for span in reversed(spans):
        cpus.append(upcoming)
        if span.state == "Running":
            upcoming = span.cpu
    return cpus[::-1]


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(int(number)) for number in numbers)
