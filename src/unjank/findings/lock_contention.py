"""Finding `lock-contention`: threads waited for a lock that another thread held."""

from collections.abc import Iterator

from unjank.findings._advice import contention_advice
from unjank.findings._evidence import Bounds, Evidence
from unjank.findings._groups import Group, chain_detail, group_waits, known_owner, lock_detail, text
from unjank.findings._model import Finding, Severity
from unjank.findings._owner_states import owner_states
from unjank.findings._sentences import wait_sentence

KIND = "lock-contention"

FRAME_NS = 16_000_000  # a frame at 60 Hz, rounded down: who waits this long misses one
QUARTER_FRAME_NS = 4_000_000  # what is left of a frame is then tight
NOTICEABLE_NS = 100_000_000  # a person takes longer delays for a pause (Nielsen, Usability Engineering, 1993)
LARGE_SHARE = 0.1  # of the trace's time, all waiters together


def find(evidence: Evidence) -> Iterator[Finding]:
    """Yields one finding per lock and owner site; main threads' waits apart from those of other threads."""
    for group in group_waits(evidence.contentions):
        yield _finding(evidence, group)


def severity(group: Group, bounds: Bounds) -> Severity:
    """How bad the waits for one lock are; the numbers are this module's constants.

    High: one wait of an interactive thread for a frame, or of any thread for a noticeable time.
    Medium: one wait of an interactive thread for a quarter of a frame, or of any thread for a frame; or
    waits that together make up a frame and a tenth of the trace. Low: the rest.
    """
    longest = group.worst.dur
    interactive = max((wait.dur for wait in group.waits if wait.waiter.is_interactive), default=0)
    if interactive >= FRAME_NS or longest >= NOTICEABLE_NS:
        return Severity.HIGH
    if interactive >= QUARTER_FRAME_NS or longest >= FRAME_NS:
        return Severity.MEDIUM
    if group.total >= max(FRAME_NS, LARGE_SHARE * bounds.dur):
        return Severity.MEDIUM
    return Severity.LOW


def _finding(evidence: Evidence, group: Group) -> Finding:
    worst = group.worst
    chain = evidence.chain(worst)
    states = owner_states(evidence, group.waits)
    return Finding(
        kind=KIND,
        severity=severity(group, evidence.bounds),
        process=worst.waiter.process,
        thread=worst.waiter.name,
        owner=known_owner(worst),
        where=text(worst.waiter_site),
        owner_where=text(worst.owner_site),
        ts_ns=worst.start,
        dur_ns=worst.dur,
        count=len(group.waits),
        events_ns=tuple(wait.dur for wait in group.waits),
        advice=contention_advice(worst, chain, owner_states(evidence, [worst])),
        detail={
            **lock_detail(group.waits, worst),
            "chain": chain_detail(chain),
            **states.detail(),
            "summary": wait_sentence(worst, chain) + ".",
        },
    )
