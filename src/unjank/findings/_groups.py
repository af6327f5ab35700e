"""Groups waits by lock and owner site, and sums them up the same way for every rule about locks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from unjank.findings._contention import Contention
from unjank.findings._model import Json
from unjank.findings._threads import Thread

_MOST_LISTED = 20  # of each list in `detail`; the sums always count all


@dataclass(frozen=True)
class Group:
    """The waits for one lock taken at one place in code, main threads' waits apart from others'."""

    waits: tuple[Contention, ...]

    @property
    def total(self) -> int:
        """Sum of the waits, ns."""
        return sum(wait.dur for wait in self.waits)

    @property
    def worst(self) -> Contention:
        """The longest wait, the first one of equals."""
        return max(self.waits, key=lambda wait: wait.dur)


def group_waits(waits: Iterable[Contention]) -> list[Group]:
    """Groups waits by process, lock and owner site; see `Group`."""
    groups: dict[tuple[object, ...], list[Contention]] = defaultdict(list)
    for wait in waits:
        groups[_key(wait)].append(wait)
    return [Group(tuple(group)) for group in groups.values()]


def _key(wait: Contention) -> tuple[object, ...]:
    """Where the lock has no name, the place its owner took it stands for it, or else where others blocked."""
    lock: object = wait.lock
    if lock is None and wait.owner_site is None:
        lock = wait.waiter_site or wait.owner_name
    return wait.waiter.upid, wait.waiter.is_main, lock, wait.owner_site


def lock_detail(waits: Sequence[Contention], worst: Contention) -> dict[str, Json]:
    """The part of `detail` that all lock findings share: exact sums in ns, and who and where."""
    return {
        "lock": worst.lock_label,
        "lock_known": worst.lock is not None,
        "lock_type": worst.lock_type,
        "lock_objects": len({wait.lock_id for wait in waits} - {None}) or None,
        "total_ns": sum(wait.dur for wait in waits),
        "unfinished": sum(wait.is_open for wait in waits),
        "results": dict(Counter(wait.result for wait in waits if wait.result)),
        "waiter_tid": worst.waiter.tid,
        "owner_tid": worst.owner.tid if worst.owner else None,
        "waiters": _shares(waits, lambda wait: thread_entry(wait.waiter)),
        "owners": _shares(waits, _owner_entry),
        "sites": _shares(waits, lambda wait: {"where": text(wait.waiter_site)}),
        "stack": worst.stack,
        "waiter_path": worst.waiter_path,
        "owner_path": worst.owner_path,
        "gil_ns": _sum_known(wait.gil_ns for wait in waits),
    }


def chain_detail(links: Sequence[Contention]) -> list[Json]:
    """Who blocked the blocker, nearest first."""
    return [link_detail(link) for link in links]


def link_detail(link: Contention) -> dict[str, Json]:
    """One wait as an entry of a chain or a cycle."""
    return {
        "thread": link.waiter.name,
        "tid": link.waiter.tid,
        "lock": link.lock_label,
        "lock_type": link.lock_type,
        "where": text(link.waiter_site),
        "owner": known_owner(link),
        "owner_tid": link.owner.tid if link.owner else None,
        "owner_where": text(link.owner_site),
        "ts_ns": link.start,
        "dur_ns": link.dur,
        "result": "unfinished" if link.is_open else link.result,
    }


def thread_entry(thread: Thread) -> dict[str, Json]:
    """A thread in a list of `detail`."""
    return {"thread": thread.name, "tid": thread.tid, "main": thread.is_main}


def owner_name(wait: Contention) -> str:
    """The owner's name: the slice's, which unlike the kernel's is not cut at 15 characters."""
    return known_owner(wait) or "an unknown thread"


def known_owner(wait: Contention) -> str | None:
    """The owner's name, None if the trace does not tell."""
    return wait.owner_name or (wait.owner.name if wait.owner else None)


def text(value: object) -> str | None:
    """`str`, but None stays None."""
    return None if value is None else str(value)


def _owner_entry(wait: Contention) -> dict[str, Json]:
    return {"thread": known_owner(wait), "tid": wait.owner.tid if wait.owner else None}


def _shares(waits: Iterable[Contention], entry: Callable[[Contention], dict[str, Json]]) -> list[Json]:
    """Splits the waits by `entry`: count, sum and worst of each, largest sum first."""
    split: dict[tuple[tuple[str, Json], ...], list[int]] = defaultdict(list)
    for wait in waits:
        split[tuple(entry(wait).items())].append(wait.dur)
    ordered = sorted(split.items(), key=lambda item: -sum(item[1]))
    return [
        {**dict(key), "count": len(durations), "total_ns": sum(durations), "worst_ns": max(durations)}
        for key, durations in ordered[:_MOST_LISTED]
    ]


def _sum_known(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
