"""Finding `queue-backlog`: messages came faster than a looper ran them, and ran late."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TypeVar

from unjank.findings._evidence import Evidence
from unjank.findings._groups import text, thread_entry
from unjank.findings._messages import Dispatch, LooperMessages, Post, read_messages
from unjank.findings._model import Finding, Json, Severity
from unjank.findings._sentences import who
from unjank.findings._slice_name import Site
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration
from unjank.findings.lock_contention import FRAME_NS, NOTICEABLE_NS, QUARTER_FRAME_NS

KIND = "queue-backlog"

BACKLOG = 10  # overdue messages at once; fewer come together by chance on a looper that keeps up
_Due = TypeVar("_Due", Dispatch, Post)
_MOST_LISTED = 20  # of each list in `detail`; the sums always count all


@dataclass(frozen=True)
class Spell:
    """A time in which there was always an overdue message, ns.

    Attributes:
        start: When the first message was due.
        peak_at: When most messages were overdue.
        peak: How many.
        end: When none was any more, or the trace's end.
    """

    start: int
    peak_at: int
    peak: int
    end: int

    def has(self, due: int) -> bool:
        """True if a message that was due then ran in this spell."""
        return self.start <= due < self.end


@dataclass(frozen=True)
class Backlog:
    """What one looper was late with, in its spells.

    Attributes:
        thread: The looper's thread.
        spells: Those with a backlog.
        late: The messages that ran late.
        posts: The posts that were due.
        ran: What the thread ran meanwhile: a callback, and how long of it was in a spell, ns.
        never_ran: Messages that were due and had not run when the trace ended.
    """

    thread: Thread
    spells: Sequence[Spell]
    late: Sequence[Dispatch]
    posts: Sequence[Post]
    ran: Sequence[tuple[str, int]]
    never_ran: int

    @property
    def worst(self) -> Dispatch:
        """The message that ran latest."""
        return max(self.late, key=_delay)

    @property
    def highest(self) -> Spell:
        """The spell with most overdue messages."""
        return max(self.spells, key=lambda spell: spell.peak)


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per looper that had a backlog."""
    end = evidence.bounds.end
    for looper in read_messages(evidence.tp, evidence.threads, evidence.processes, end):
        backlog = _backlog(looper, end)
        if backlog:
            yield _finding(backlog)


def severity(thread: Thread, longest_ns: int) -> Severity:
    """How bad it is that a thread's message ran so late; the numbers are those of `lock-contention`."""
    if longest_ns >= (FRAME_NS if thread.is_interactive else NOTICEABLE_NS):
        return Severity.HIGH
    if longest_ns >= (QUARTER_FRAME_NS if thread.is_interactive else FRAME_NS):
        return Severity.MEDIUM
    return Severity.LOW


def spells_of(messages: Sequence[Dispatch]) -> Iterator[Spell]:
    """Yields the times in which messages were overdue, in order.

    What begins as something else is due counts as run before that is overdue.
    """
    changes = Counter[int]()
    for message in messages:
        if message.start > message.due:
            changes[message.due] += 1
            changes[message.start] -= 1
    overdue = start = peak = peak_at = 0
    for at in sorted(changes):
        if overdue == 0:
            start, peak = at, 0
        overdue += changes[at]
        if overdue > peak:
            peak, peak_at = overdue, at
        if overdue == 0 and peak:
            yield Spell(start, peak_at, peak, at)


def _backlog(looper: LooperMessages, trace_end: int) -> Backlog | None:
    unrun = [Dispatch(post.due, trace_end, trace_end, None) for post in looper.never_ran(trace_end)]
    messages = [*looper.dispatches, *unrun]
    spells = [spell for spell in spells_of(messages) if spell.peak >= BACKLOG]
    if not spells or looper.thread is None:
        return None
    return Backlog(
        thread=looper.thread,
        spells=spells,
        late=[message for message in _within(spells, messages) if _delay(message) > 0],
        posts=_within(spells, looper.posts),
        ran=list(_ran_meanwhile(spells, looper.dispatches)),
        never_ran=len(unrun),
    )


def _within(spells: Sequence[Spell], messages: Sequence[_Due]) -> list[_Due]:
    """The messages that were due in one of the spells; both in order of time."""
    found: list[_Due] = []
    left = iter(sorted(messages, key=lambda message: message.due))
    message = next(left, None)
    for spell in spells:
        while message is not None and message.due < spell.end:
            if spell.has(message.due):
                found.append(message)
            message = next(left, None)
    return found


def _ran_meanwhile(spells: Sequence[Spell], dispatches: Sequence[Dispatch]) -> Iterator[tuple[str, int]]:
    for spell in spells:
        # One message runs at a time: both begins and ends are in order.
        first = bisect_right(dispatches, spell.start, key=lambda message: message.end)
        last = bisect_left(dispatches, spell.end, key=lambda message: message.start)
        for message in dispatches[first:last]:
            overlap = min(message.end, spell.end) - max(message.start, spell.start)
            yield message.callback or "unknown", overlap


def _finding(backlog: Backlog) -> Finding:
    worst = backlog.worst
    producers = _producers(backlog)
    callbacks = _callbacks(backlog)
    poster, site = producers[0][:2] if producers else (None, None)
    return Finding(
        kind=KIND,
        severity=severity(backlog.thread, _delay(worst)),
        process=backlog.thread.process,
        thread=backlog.thread.name,
        owner=poster.name if poster else None,
        where=_in_code(callbacks[0][0]) if callbacks else None,
        owner_where=text(site),
        ts_ns=worst.due,
        dur_ns=_delay(worst),
        count=len(backlog.late),
        events_ns=tuple(map(_delay, backlog.late)),
        advice=_advice(backlog, producers, callbacks),
        detail=_detail(backlog, producers, callbacks),
    )


_Producer = tuple[Thread, Site | None, int]
_Callback = tuple[str, int, int, int]


def _producers(backlog: Backlog) -> list[_Producer]:
    """Who posted what was late, from where, how much of it; most first."""
    counts = Counter((post.poster.utid, post.site) for post in backlog.posts)
    threads = {post.poster.utid: post.poster for post in backlog.posts}
    return [(threads[utid], site, count) for (utid, site), count in counts.most_common()]


def _callbacks(backlog: Backlog) -> list[_Callback]:
    """What the looper ran meanwhile: name, times, sum and worst of the run times; largest sum first."""
    durations: dict[str, list[int]] = defaultdict(list)
    for callback, ns in backlog.ran:
        durations[callback].append(ns)
    ran = [(name, len(each), sum(each), max(each)) for name, each in durations.items()]
    return sorted(ran, key=lambda callback: -callback[2])


def _detail(
    backlog: Backlog, producers: Sequence[_Producer], callbacks: Sequence[_Callback]
) -> dict[str, Json]:
    delays = [_delay(message) for message in backlog.late]
    spell = backlog.highest
    lasted = sum(each.end - each.start for each in backlog.spells)
    return {
        "lock": None,
        "owner_role": "flooded by",
        "total_ns": sum(delays),
        "delay_p50_ns": median_low(delays),
        "delay_max_ns": max(delays),
        "peak": spell.peak,
        "peak_ts_ns": spell.peak_at,
        "growth_per_s": _per_second(spell.peak, spell.peak_at - spell.start),
        "spells": len(backlog.spells),
        "backlog_ns": lasted,
        "never_ran": backlog.never_ran,
        "looper_tid": backlog.thread.tid,
        "posts": len(backlog.posts),
        "posts_per_s": _per_second(len(backlog.posts), lasted),
        "producers": [
            {**thread_entry(thread), "where": text(site), "count": count, "per_s": _per_second(count, lasted)}
            for thread, site, count in producers[:_MOST_LISTED]
        ],
        "callbacks": [
            {"callback": name, "count": count, "total_ns": total, "worst_ns": worst}
            for name, count, total, worst in callbacks[:_MOST_LISTED]
        ],
        "summary": _summary(backlog, producers, delays),
    }


def _summary(backlog: Backlog, producers: Sequence[_Producer], delays: Sequence[int]) -> str:
    half = format_duration(median_low(delays))
    late = f"messages ran up to {format_duration(max(delays))} late, half of them {half} or more"
    peak = f"{backlog.highest.peak} messages were overdue at once"
    sentence = f"{who(backlog.thread)} fell behind: {peak}, {late}"
    if producers:
        thread, site, count = producers[0]
        place = f" in {site}" if site else ""
        sentence += f"; {thread.name} posted {count} of {len(backlog.posts)}{place}"
    if backlog.never_ran:
        sentence += f"; {backlog.never_ran} had not run when the trace ended"
    return sentence + "."


def _advice(backlog: Backlog, producers: Sequence[_Producer], callbacks: Sequence[_Callback]) -> str:
    """Who could post less, and what could take less time."""
    parts = []
    if producers:
        thread, site, _ = producers[0]
        place = f" in {site}" if site else ""
        parts.append(
            f"let {thread.name} post less often{place}: ask has_callbacks() or has_messages() first, or "
            "remove what a newer message replaces"
        )
    if callbacks:
        name, count, total, _ = callbacks[0]
        runs = "1 run" if count == 1 else f"{count} runs"
        parts.append(f"make {name} cheaper, which took {format_duration(total)} in {runs}")
    if not parts:
        return f"Find out what {backlog.thread.name} does instead of running its messages."
    sentence = ", or ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _per_second(count: int, ns: int) -> float | None:
    return round(count * 1e9 / ns, 1) if ns > 0 else None


def _delay(message: Dispatch) -> int:
    return message.start - message.due


def _in_code(callback: str) -> str:
    """`Clock.tick (clock.py:9)` as a code location: with `()` behind the name."""
    name, bracket, place = callback.partition(" (")
    return f"{name}(){bracket}{place}"
