"""The worst stalls, one card each: findings on the same wait are told together, led by the cause."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import cast

from unjank.findings import Evidence, Finding, FindingSet, Json, Severity, counted, format_duration, sql_of
from unjank.report._about import best_explained, circle, entries, is_about
from unjank.report._words import short_site
from unjank.report.html._drawing import NARROW, WIDE, Drawing, draw
from unjank.report.html._timeline import Timeline, read_timeline

_MOST_RIVALS = 8
_SMALLEST_RIVAL = 0.005  # of the wait; those below are summed up


@dataclass(frozen=True)
class Share:
    """A part of a whole: `of` is the largest or the sum, for the bar beside it."""

    name: str
    kind: str
    ns: int
    of: int

    @property
    def percent(self) -> float:
        """The part, 0 to 100."""
        return round(100 * self.ns / self.of, 1) if self.of else 0.0

    @property
    def duration(self) -> str:
        """The part, in words."""
        return format_duration(self.ns)


@dataclass(frozen=True)
class Stall:
    """A card.

    Attributes:
        finding: The finding that says most about it.
        severity: The worst of all findings on it.
        kinds: The kinds of all findings on it.
        sentence: What happened.
        facts: Names and values, in the order to show them.
        pictures: The timeline in each format; empty where the trace does not tell who it was.
        legend: What the picture's colours mean: a heading, and each kind with words.
        owner_time: What the owner did during the worst wait.
        rivals: Who ran instead of the owner in the worst wait.
        chain: Who held up the owner, nearest first; or the waits of a circle.
        advice: What to do.
        sql: Headings and statements to copy.
    """

    finding: Finding
    severity: Severity
    kinds: tuple[str, ...]
    sentence: str
    facts: tuple[tuple[str, str], ...]
    pictures: tuple[Drawing, ...]
    legend: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    owner_time: tuple[Share, ...]
    rivals: tuple[Share, ...]
    chain: tuple[str, ...]
    advice: tuple[str, ...]
    sql: tuple[tuple[str, str], ...]


def worst_stalls(evidence: Evidence, found: FindingSet, at_most: int) -> list[Stall]:
    """The cards of the worst findings, worst first."""
    stalls: list[Stall] = []
    left = list(found.findings)
    while left and len(stalls) < at_most:
        lead = best_explained(left[0], left)
        rest = [finding for finding in left if finding is not lead]
        others = [other for other in rest if is_about(lead, other) or is_about(other, lead)]
        left = [finding for finding in rest if finding not in others]
        stalls.append(_stall(evidence, lead, others))
    return stalls


def _stall(evidence: Evidence, lead: Finding, others: Sequence[Finding]) -> Stall:
    timeline = read_timeline(evidence, lead)
    kinds = list(dict.fromkeys(finding.kind for finding in (lead, *others)))
    sql = [(f"{kind}: its numbers", sql_of(kind)) for kind in kinds]
    if timeline:
        sql.append(("The picture", timeline.sql))
    return Stall(
        finding=lead,
        severity=min((finding.severity for finding in (lead, *others)), key=lambda each: each.rank),
        kinds=tuple(kinds),
        sentence=_sentence(lead),
        facts=tuple(_facts(lead)),
        pictures=(draw(timeline, WIDE), draw(timeline, NARROW)) if timeline else (),
        legend=tuple(_legend(timeline)) if timeline else (),
        owner_time=tuple(_owner_time(lead)),
        rivals=tuple(_rivals(lead, timeline)),
        chain=tuple(_chain(lead)),
        advice=tuple(dict.fromkeys(finding.advice for finding in (lead, *others) if finding.advice)),
        sql=tuple(sql),
    )


def _sentence(finding: Finding) -> str:
    summary = finding.detail.get("summary")
    if isinstance(summary, str):
        return summary
    return f"{finding.thread or 'A thread'}: {finding.kind}, {format_duration(finding.dur_ns)}."


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    """What is known beside the sentence, in the order to show it."""
    detail = finding.detail
    if finding.where:
        yield "Waited in" if finding.owner else "In", short_site(finding.where) or ""
    lock = detail.get("lock")
    if isinstance(lock, str) and detail.get("lock_known", True):
        yield "Lock", lock
    if finding.owner and not circle(finding):
        held = f" in {short_site(finding.owner_where)}" if finding.owner_where else ""
        yield str(detail.get("owner_role", "held by")).capitalize(), f"{finding.owner}{held}"
    yield "Longest", format_duration(finding.dur_ns)
    total = detail.get("total_ns")
    if isinstance(total, int):
        times = "once" if finding.count == 1 else f"{finding.count} times"
        yield "In all", f"{format_duration(total)}, {times}"
    yield from _times(detail)
    priorities = _priorities(detail)
    if priorities:
        yield "Priority", priorities
    if isinstance(detail.get("stack"), str):
        yield "Stack", str(detail["stack"])


_TIMES = (
    ("gil_ns", "For the GIL"),
    ("in_janky_frames_ns", "In late frames"),
    ("delay_p50_ns", "Median delay"),
)


def _times(detail: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for key, name in _TIMES:
        value = detail.get(key)
        if isinstance(value, int) and value > 0:
            yield name, format_duration(value)


def _priorities(detail: Mapping[str, Json]) -> str:
    """Nice values of waiter and owner; real-time priorities as the kernel numbers them."""
    words = []
    for who in ("waiter", "owner"):
        nice, priority = detail.get(f"{who}_nice"), detail.get(f"{who}_priority")
        if isinstance(nice, int):
            words.append(f"{who} nice {nice}")
        elif isinstance(priority, int):
            words.append(f"{who} real-time {priority}")
    return ", ".join(words)


def _owner_time(finding: Finding) -> Iterator[Share]:
    """What the owner did during the worst wait, where the finding tells."""
    worst = finding.detail.get("worst")
    if not isinstance(worst, Mapping):
        return
    parts = (("owner_ran_ns", "ran", "running"), ("held_off_ns", "was kept off the CPU", "runnable"))
    for key, name, kind in (*parts, ("owner_blocked_ns", "slept or was blocked", "sleeping")):
        value = worst.get(key)
        if isinstance(value, int) and value > 0:
            yield Share(name, kind, value, finding.dur_ns)


def _rivals(finding: Finding, timeline: Timeline | None) -> Iterator[Share]:
    """Who ran instead of the owner in the worst wait, in the colours of the picture."""
    worst = finding.detail.get("worst")
    listed = entries(worst.get("ran_instead")) if isinstance(worst, Mapping) else []
    kinds = {(each.thread, each.tid): each.kind for each in timeline.on_cpu} if timeline else {}
    times = [(entry, ns) for entry in listed if isinstance(ns := entry.get("total_ns"), int)]
    longest = max((ns for _, ns in times), default=0)
    shown = [(entry, ns) for entry, ns in times[:_MOST_RIVALS] if ns >= _SMALLEST_RIVAL * finding.dur_ns]
    for entry, ns in shown:
        kind = kinds.get((str(entry.get("thread")), cast("int | None", entry.get("tid"))), "rank-rest")
        yield Share(_rival_name(entry), kind, ns, longest)
    if left := times[len(shown) :]:
        yield Share(counted(len(left), "other"), "rank-rest", sum(ns for _, ns in left), longest)


def _rival_name(entry: Mapping[str, Json]) -> str:
    nice = f"nice {entry['nice']}" if isinstance(entry.get("nice"), int) else "real-time"
    process = PurePath(str(entry.get("process") or "")).name
    return f"{entry.get('thread')} ({process}, {nice})" if process else f"{entry.get('thread')} ({nice})"


def _chain(finding: Finding) -> Iterator[str]:
    """The waits of a circle, or those that held up the owner."""
    for link in circle(finding) or entries(finding.detail.get("chain")):
        place = f" in {short_site(str(link['where']))}" if link.get("where") else ""
        is_lock = link.get("lock_type") != "Thread"
        held = f", held by {link['owner']}" if is_lock and link.get("owner") else ""
        dur = link.get("dur_ns")
        lasted = f" {format_duration(dur)}" if isinstance(dur, int) else ""
        yield f"{link.get('thread')} waited{lasted}{place} for {link.get('lock')}{held}"


_LEGEND = (
    ("wait", "waits for a lock"),
    ("event", "what this is about"),
    ("idle", "waits on purpose"),
    ("message", "handles a message"),
    ("post", "posts a message"),
    ("running", "runs"),
    ("runnable", "ready to run, no CPU"),
    ("blocked", "blocked in the kernel"),
    ("sleeping", "sleeps"),
    ("unknown", "not recorded"),
)


def _legend(timeline: Timeline) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """The colours that are in the picture: of threads, and of CPUs."""
    kinds = {span.kind for lane in timeline.lanes for span in (*lane.upper, *lane.lower)}
    if states := tuple((kind, words) for kind, words in _LEGEND if kind in kinds):
        yield "Threads", states
    if timeline.on_cpu:
        named = {thread.kind: thread.thread for thread in timeline.on_cpu}
        if "rank-rest" in named:
            named["rank-rest"] = "others"
        yield "On the CPU", tuple(named.items())
