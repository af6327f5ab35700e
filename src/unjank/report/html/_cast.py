"""Who is in the picture of a finding: the threads it is about, in the order in which they wait."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from unjank.findings import Contention, Evidence, Finding, Json, Thread
from unjank.report._about import circle, entries

_MOST_THREADS = 5
_MOST_CPUS = 2
_LEAST_SHARE = 0.02  # of the time lost; a CPU that was wanted for less explains nothing


@dataclass(frozen=True)
class Actor:
    """A thread, its name for people, and what it is there for."""

    thread: Thread
    name: str
    role: str


@dataclass(frozen=True)
class Cast:
    """Who is in a picture.

    Attributes:
        actors: The threads, the first of which lost the time.
        cpus: The CPUs that matter to them, most important first.
        is_wait: Whether the time was lost waiting for a lock.
    """

    actors: tuple[Actor, ...]
    cpus: tuple[int, ...]
    is_wait: bool


def cast_of(evidence: Evidence, finding: Finding) -> Cast:
    """Finds the threads that a finding is about; none if the trace does not tell for certain."""
    wait = _wait(evidence, finding)
    found = _of_wait(evidence, wait) if wait else _of_others(evidence, finding)
    actors = tuple(_distinct(found))[:_MOST_THREADS]
    return Cast(actors, _wanted_cpus(evidence, actors, finding), wait is not None)


def _wait(evidence: Evidence, finding: Finding) -> Contention | None:
    """The wait that is a finding's worst occurrence; None also for circles, which are several."""
    tid = finding.detail.get("waiter_tid")
    at = [wait for wait in evidence.contentions if wait.start == finding.ts_ns and not circle(finding)]
    return next((wait for wait in at if wait.waiter.tid == tid), None)


def _of_wait(evidence: Evidence, wait: Contention) -> Iterator[Actor]:
    yield Actor(wait.waiter, wait.waiter.name, "waits")
    if wait.owner:
        yield Actor(wait.owner, wait.owner_name or wait.owner.name, "holds the lock")
    for link in evidence.chain(wait):
        if link.owner:
            yield Actor(link.owner, link.owner_name or link.owner.name, f"holds up {link.waiter.name}")


def _of_others(evidence: Evidence, finding: Finding) -> Iterator[Actor]:
    """Circles, loopers, pairs that wake each other, and threads alone."""
    detail = finding.detail
    here = {"process": finding.process}
    for key, role in (("cycle", "waits in the circle"), ("pair", "wakes and is woken")):
        for entry in entries(detail.get(key)):
            yield from _actor(evidence, {**here, **entry}, role)
    if detail.get("cycle") or detail.get("pair"):
        return
    tid = detail.get("looper_tid") or detail.get("waiter_tid") or detail.get("tid")
    role = "looper" if "looper_tid" in detail else ""
    yield from _actor(evidence, {**here, "tid": tid, "thread": finding.thread}, role)
    for producer in entries(detail.get("producers")):
        yield from _actor(evidence, {**here, **producer}, "posts")
    if not detail.get("producers"):
        owner = {**here, "tid": detail.get("owner_tid") or detail.get("waker_tid"), "thread": finding.owner}
        yield from _actor(evidence, owner, str(detail.get("owner_role", "owner")))


def _actor(evidence: Evidence, entry: Mapping[str, Json], role: str) -> Iterator[Actor]:
    """The thread with an entry's id, else with its name and process; nobody if that is not one thread."""
    tid, name = entry.get("tid"), entry.get("thread")
    if tid is not None:
        found = [thread for thread in evidence.threads if thread.tid == tid and thread.name == name]
    else:
        process = entry.get("process")
        found = [thread for thread in evidence.threads if (thread.name, thread.process) == (name, process)]
    if len(found) == 1:
        yield Actor(found[0], found[0].name, role)


def _distinct(actors: Iterable[Actor]) -> Iterator[Actor]:
    seen: set[int] = set()
    for actor in actors:
        if actor.thread.utid not in seen:
            seen.add(actor.thread.utid)
            yield actor


def _wanted_cpus(evidence: Evidence, actors: tuple[Actor, ...], finding: Finding) -> tuple[int, ...]:
    """The CPUs on which those that were waited for ran or wanted to run, most time first."""
    if not evidence.scheduling.is_recorded:
        return ()
    time: dict[int, int] = {}
    for actor in actors[1:] if finding.owner and not _is_own_doing(finding) else actors:
        end = finding.ts_ns + finding.dur_ns
        for span in evidence.scheduling.states(actor.thread.utids, finding.ts_ns, end):
            if span.cpu is not None:
                time[span.cpu] = time.get(span.cpu, 0) + span.dur
    wanted = [cpu for cpu in time if time[cpu] >= _LEAST_SHARE * finding.dur_ns]
    return tuple(sorted(wanted, key=lambda cpu: -time[cpu])[:_MOST_CPUS])


def _is_own_doing(finding: Finding) -> bool:
    """True where the first thread's own time on a CPU matters too: it was not kept waiting by the others."""
    return "looper_tid" in finding.detail or "pair" in finding.detail
