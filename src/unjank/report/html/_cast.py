"""Who is in the picture of a finding: the threads it is about, in the order in which they wait."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unjank.findings import Contention, Evidence, Finding, Json, Thread
from unjank.report._about import circle, entries

_MOST_THREADS = 5
_MOST_CPUS = 2
_LEAST_SHARE = 0.02  # of the time lost; a CPU that was wanted for less explains nothing


@dataclass(frozen=True)
class Actor:
    """A thread with what it is there for: `waits`, `owner`, `owner's owner`, `looper`, `posts`."""

    thread: Thread
    role: str


@dataclass(frozen=True)
class Cast:
    """The threads of a picture, the first of which lost the time, and the CPUs that the others wanted."""

    actors: tuple[Actor, ...]
    cpus: tuple[int, ...]


def cast_of(evidence: Evidence, finding: Finding) -> Cast:
    """Finds the threads that a finding is about; none if the trace does not tell for certain."""
    actors = tuple(_distinct(_actors(evidence, finding)))[:_MOST_THREADS]
    return Cast(actors, _wanted_cpus(evidence, actors, finding))


def _actors(evidence: Evidence, finding: Finding) -> Iterator[Actor]:
    if links := circle(finding):
        for link in links:
            yield from _actor(evidence, finding, link.get("tid"), link.get("thread"), "waits in the circle")
        return
    if wait := _wait(evidence, finding):
        yield from _of_wait(evidence, wait)
        return
    detail = finding.detail
    tid = detail.get("looper_tid") or detail.get("waiter_tid") or detail.get("tid")
    role = "looper" if "looper_tid" in detail else "waits" if finding.owner else ""
    yield from _actor(evidence, finding, tid, finding.thread, role)
    for producer in entries(detail.get("producers")):
        yield from _actor(evidence, finding, producer.get("tid"), producer.get("thread"), "posts")
    if not detail.get("producers"):
        yield from _actor(evidence, finding, detail.get("owner_tid"), finding.owner, "owner")


def _wait(evidence: Evidence, finding: Finding) -> Contention | None:
    """The wait that is a finding's worst occurrence."""
    tid = finding.detail.get("waiter_tid")
    at = (wait for wait in evidence.contentions if wait.start == finding.ts_ns)
    return next((wait for wait in at if wait.waiter.tid == tid), None)


def _of_wait(evidence: Evidence, wait: Contention) -> Iterator[Actor]:
    yield Actor(wait.waiter, "waits")
    if wait.owner:
        yield Actor(wait.owner, "holds the lock")
    for link in evidence.chain(wait):
        if link.owner:
            yield Actor(link.owner, f"holds up {link.waiter.name}")


def _actor(evidence: Evidence, finding: Finding, tid: Json, name: Json, role: str) -> Iterator[Actor]:
    """The thread with that id and name; nobody if there is none or more than one."""
    if tid is None and name is None:
        return
    found = [
        thread
        for thread in evidence.threads
        if (tid is None or thread.tid == tid)
        and (name is None or thread.name == name)
        and (finding.process is None or thread.process == finding.process)
    ]
    if len(found) == 1:
        yield Actor(found[0], role)


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
    for actor in actors if finding.owner is None or "looper_tid" in finding.detail else actors[1:]:
        end = finding.ts_ns + finding.dur_ns
        for span in evidence.scheduling.states(actor.thread.utids, finding.ts_ns, end):
            if span.cpu is not None:
                time[span.cpu] = time.get(span.cpu, 0) + span.dur
    wanted = [cpu for cpu in time if time[cpu] >= _LEAST_SHARE * finding.dur_ns]
    return tuple(sorted(wanted, key=lambda cpu: -time[cpu])[:_MOST_CPUS])
