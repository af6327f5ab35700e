"""Reads what a picture shows: states and waits of threads, and who ran on a CPU, in a span of a trace.

Each part is read by the SQL that the page shows beside the picture.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from unjank.findings import Evidence, Finding, format_duration
from unjank.report.html._cast import Actor, Cast, cast_of

_MARGIN = 0.12  # of the time that was lost, on both sides: what came before, and how it went on
_SHORTEST_NS = 1_000

_PIXELS = 1600  # more than any picture has; what is shorter than one is put together by SQL

# In all of these: what the kernel hid from tracing has no end of its own and lasts until the next one there.
# What is shorter than {short} ns is put together, per kind, within as much time; the rest is as it is.
_STATES_SQL = """\
-- What the threads did. States shorter than {short} ns are put together.
WITH seen AS (
  SELECT
    utid, state, cpu, MAX(ts, {start}) AS ts,
    MIN({end}, IIF(dur >= 0, ts + dur, LEAD(ts, 1, trace_end()) OVER later)) AS end_ts
  FROM thread_state WHERE utid IN ({utids}) AND ts < {end}
  WINDOW later AS (PARTITION BY utid ORDER BY ts)
)
SELECT
  utid, state, MIN(cpu) AS cpu, MIN(ts) AS ts, MAX(end_ts) AS end_ts, SUM(end_ts - ts) AS lasted,
  COUNT() AS pieces
FROM seen WHERE end_ts > {start}
GROUP BY utid, state, IIF(end_ts - ts < {short}, (ts - {start}) / {short}, -1 - ts)
ORDER BY MIN(ts)"""

_SLICES_SQL = """\
-- What they waited for, and the messages they ran. Slices shorter than {short} ns are put together.
WITH seen AS (
  SELECT
    s.id, tt.utid, s.name, s.category, s.depth, MAX(s.ts, {start}) AS ts,
    MIN({end}, IIF(s.dur < 0, trace_end(), s.ts + s.dur)) AS end_ts,
    COALESCE(EXTRACT_ARG(s.arg_set_id, 'debug.lock'), EXTRACT_ARG(s.arg_set_id, 'debug.object')) AS what
  FROM slice s JOIN thread_track tt ON s.track_id = tt.id
  WHERE tt.utid IN ({utids}) AND s.ts < {end} AND (s.dur < 0 OR s.ts + s.dur >= {start})
    AND (s.category IN ('lock', 'wait', 'mq') OR s.name GLOB 'monitor contention with owner *')
)
SELECT
  utid, category, MIN(name) AS name, MIN(what) AS what, MIN(ts) AS ts, MAX(end_ts) AS end_ts,
  SUM(end_ts - ts) AS lasted, COUNT() AS pieces
FROM seen
GROUP BY utid, category, IIF(end_ts - ts < {short}, (ts - {start}) / {short}, -1 - id)
ORDER BY MIN(ts), MIN(depth)"""

_CPU_SQL = """\
-- Who ran on the CPUs that the threads wanted. Runs shorter than {short} ns are put together.
WITH seen AS (
  SELECT
    cpu, utid, priority, MAX(ts, {start}) AS ts,
    MIN({end}, IIF(dur >= 0, ts + dur, LEAD(ts, 1, trace_end()) OVER later)) AS end_ts
  FROM sched WHERE cpu IN ({cpus}) AND ts < {end}
  WINDOW later AS (PARTITION BY cpu ORDER BY ts)
), ran AS (
  SELECT
    cpu, utid, MIN(priority) AS priority, MIN(ts) AS ts, MAX(end_ts) AS end_ts, SUM(end_ts - ts) AS lasted,
    COUNT() AS pieces
  FROM seen WHERE end_ts > {start}
  GROUP BY cpu, utid, IIF(end_ts - ts < {short}, (ts - {start}) / {short}, -1 - ts)
)
SELECT r.*, COALESCE(NULLIF(t.name, ''), 'thread ' || t.tid) AS thread, t.tid, p.name AS process
FROM ran r JOIN thread t USING (utid) LEFT JOIN process p USING (upid)
WHERE NOT t.is_idle
ORDER BY r.cpu, r.ts"""


@dataclass(frozen=True)
class Span:
    """Something that lasted.

    Attributes:
        start, end: On the trace's clock, ns.
        kind: How it is drawn: `wait`, `event`, `message`, `post`, a thread's state (`running`, `runnable`,
            `sleeping`, `blocked`, `unknown`), or `rank-N` for a thread on a CPU.
        label: A short name, shown where it fits.
        words: What it is in full.
        lasted: How long it really lasted, ns, if it is several pieces with something else between.
    """

    start: int
    end: int
    kind: str
    label: str
    words: str
    lasted: int


@dataclass(frozen=True)
class Lane:
    """A row of the picture: a thread, with what it waited for above its states, or a CPU."""

    name: str
    role: str
    upper: tuple[Span, ...]
    lower: tuple[Span, ...]


@dataclass(frozen=True)
class OnCpu:
    """A thread that ran on a CPU, and the kind that it is drawn as."""

    kind: str
    thread: str
    tid: int | None


@dataclass(frozen=True)
class Timeline:
    """What a picture shows.

    Attributes:
        start, end: The time shown, ns on the trace's clock.
        lost_from, lost_to: The part of it in which time was lost.
        lanes: From top to bottom.
        on_cpu: The threads that ran on the CPUs shown: the cast first, then by the time they ran.
        sql: The statements that give all this.
    """

    start: int
    end: int
    lost_from: int
    lost_to: int
    lanes: tuple[Lane, ...]
    on_cpu: tuple[OnCpu, ...]
    sql: str


def read_timeline(evidence: Evidence, finding: Finding) -> Timeline | None:
    """Reads the picture of a finding's worst occurrence; None if nobody in it is known for certain."""
    cast = cast_of(evidence, finding)
    if not cast.actors:
        return None
    start, end = _shown(evidence, finding)
    statements = _statements(cast, start, end)
    rows = {name: list(evidence.tp.query(sql)) for name, sql in statements.items()}
    ranks = _ranks(rows.get("cpus", []), cast)
    lost = finding.ts_ns, min(finding.ts_ns + finding.dur_ns, end)
    threads = [_thread_lane(actor, rows["slices"], rows["states"]) for actor in cast.actors]
    threads[0] = _with_event(threads[0], finding, cast, lost)
    cpus = [_cpu_lane(cpu, rows["cpus"], ranks) for cpu in cast.cpus]
    return Timeline(
        start=start,
        end=end,
        lost_from=lost[0],
        lost_to=lost[1],
        lanes=tuple(_said_if_empty(lane, lost) for lane in (*threads, *cpus)),
        on_cpu=tuple(_on_cpu(rows.get("cpus", []), ranks, cast)),
        sql=";\n\n".join(statements.values()) + ";\n",
    )


def _shown(evidence: Evidence, finding: Finding) -> tuple[int, int]:
    margin = max(int(finding.dur_ns * _MARGIN), _SHORTEST_NS)
    bounds = evidence.bounds
    start = max(finding.ts_ns - margin, min(bounds.start, finding.ts_ns))
    end = min(finding.ts_ns + finding.dur_ns + margin, max(bounds.end, finding.ts_ns + finding.dur_ns))
    return start, max(end, start + 1)


def _statements(cast: Cast, start: int, end: int) -> dict[str, str]:
    """The SQL of the picture. Numbers alone are put into it."""
    utids = sorted(utid for actor in cast.actors for utid in actor.thread.utids)
    short = max((end - start) // _PIXELS, 1)
    values = {"start": start, "end": end, "short": short, "utids": _listed(utids), "cpus": _listed(cast.cpus)}
    statements = {"slices": _SLICES_SQL, "states": _STATES_SQL}
    if cast.cpus:
        statements["cpus"] = _CPU_SQL
    return {name: sql.format(**values) for name, sql in statements.items()}


def _listed(numbers: list[int] | tuple[int, ...]) -> str:
    return ", ".join(str(int(number)) for number in numbers)


def _thread_lane(actor: Actor, slices: list[Any], states: list[Any]) -> Lane:
    utids = actor.thread.utids
    upper = tuple(_slice_span(row) for row in slices if row.utid in utids)
    lower = tuple(_state_span(row) for row in states if row.utid in utids)
    return Lane(actor.name, actor.role, upper, lower)


def _with_event(lane: Lane, finding: Finding, cast: Cast, lost: tuple[int, int]) -> Lane:
    """Marks what was lost where no slice does: a wait that only the log tells, a late message."""
    if lane.upper:
        return lane
    lasted = format_duration(finding.dur_ns)
    kind, label = ("wait", f"waits {lasted}") if cast.is_wait else ("event", f"{finding.kind}, {lasted}")
    words = f"{label}: {finding.detail.get('summary') or finding.kind}"
    return replace(lane, upper=(_whole(lost, kind, label, words),))


def _said_if_empty(lane: Lane, lost: tuple[int, int]) -> Lane:
    if lane.upper or lane.lower:
        return lane
    words = f"what {lane.name} did when is not in the trace"
    return replace(lane, lower=(_whole(lost, "unknown", "not recorded", words),))


def _whole(time: tuple[int, int], kind: str, label: str, words: str) -> Span:
    start, end = time
    return Span(start, end, kind, label, words, end - start)


def _lasted(row: Any) -> str:  # noqa: ANN401  a row's columns are those of the query
    lasted = format_duration(row.lasted)
    return lasted if row.pieces == 1 else f"{lasted} in {row.pieces} pieces"


def _slice_span(row: Any) -> Span:  # noqa: ANN401  a row's columns are those of the query
    kind, label = _slice_kind(row)
    return Span(row.ts, row.end_ts, kind, label, f"{row.name}: {_lasted(row)}", row.lasted)


def _slice_kind(row: Any) -> tuple[str, str]:  # noqa: ANN401  a row's columns are those of the query
    if row.category == "mq":
        return ("message" if row.lasted else "post"), row.name
    if row.category == "wait":
        return "idle", row.name.removeprefix("wait ")
    return "wait", f"waits {format_duration(row.lasted)} for {row.what or 'a monitor'}"


_STATE_WORDS = {
    "Running": ("running", "runs"),
    "R": ("runnable", "ready to run, has no CPU"),
    "R+": ("runnable", "ready to run, was taken off the CPU"),
    "S": ("sleeping", "sleeps"),
    "I": ("sleeping", "sleeps"),
    "D": ("blocked", "blocked in the kernel"),
    "DK": ("blocked", "blocked in the kernel"),
    "X": ("gone", "has ended"),
    "Z": ("gone", "has ended"),
}


def _state_span(row: Any) -> Span:  # noqa: ANN401  a row's columns are those of the query
    kind, words = _STATE_WORDS.get(row.state or "", ("sleeping", f"state {row.state}"))
    where = f" on CPU {row.cpu}" if kind == "running" and row.cpu is not None else ""
    full = f"{words}{where}: {_lasted(row)}"
    return Span(row.ts, row.end_ts, kind, words.split(",")[0], full, row.lasted)


def _cpu_lane(cpu: int, rows: list[Any], ranks: dict[int, str]) -> Lane:
    spans = tuple(_run_span(row, ranks[row.utid]) for row in rows if row.cpu == cpu)
    return Lane(f"CPU {cpu}", "who ran there", (), spans)


def _run_span(row: Any, kind: str) -> Span:  # noqa: ANN401  a row's columns are those of the query
    who = f"{row.thread} {row.tid} ({row.process or 'no process'})"
    words = f"{who} runs, priority {row.priority}: {_lasted(row)}"
    return Span(row.ts, row.end_ts, kind, row.thread, words, row.lasted)


_MOST_RANKS = 6


def _ranks(rows: list[Any], cast: Cast) -> dict[int, str]:
    """How each thread on a CPU is drawn: the cast by role, the others by the time they ran."""
    own = {utid: f"actor-{min(n, 1)}" for n, actor in enumerate(cast.actors) for utid in actor.thread.utids}
    time: dict[int, int] = {}
    for row in rows:
        time[row.utid] = time.get(row.utid, 0) + row.lasted
    others = sorted((utid for utid in time if utid not in own), key=lambda utid: -time[utid])
    return own | {utid: f"rank-{n}" if n < _MOST_RANKS else "rank-rest" for n, utid in enumerate(others)}


def _on_cpu(rows: list[Any], ranks: dict[int, str], cast: Cast) -> Iterator[OnCpu]:
    names = {utid: actor.name for actor in cast.actors for utid in actor.thread.utids}
    threads = {row.utid: OnCpu(ranks[row.utid], names.get(row.utid, row.thread), row.tid) for row in rows}
    yield from sorted(threads.values(), key=lambda thread: thread.kind)
