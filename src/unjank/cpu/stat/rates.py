"""What happened between two snapshots, per second."""

from dataclasses import dataclass

from unjank._errors import CpuError
from unjank.cpu.priority import show_priority
from unjank.cpu.procstat import Switches
from unjank.cpu.scheduler import Attributes
from unjank.cpu.stat.reader import Snapshot, ThreadSample


@dataclass(frozen=True)
class StormLimits:
    """From which rates on a thread is marked.

    Attributes:
        switches: Switches a second. A switch costs about a microsecond and cold caches; from tens of
            thousands a second on, a thread switches more than it works.
        migrations: Moves to another CPU a second; each leaves the caches behind.
        wait_share: Share of time kept waiting for a CPU although ready.
    """

    switches: float = 10_000.0
    migrations: float = 1_000.0
    wait_share: float = 0.5


@dataclass(frozen=True)
class ThreadRate:
    """One thread between two snapshots; None where the kernel does not count.

    Attributes:
        tid: Native id.
        name: Its name.
        state: R running or ready, S asleep, D in the kernel, T stopped, Z ended.
        cpu_share: Time on a CPU, of one CPU's.
        wait_share: Time kept waiting for a CPU, of the time that passed.
        voluntary: Switches a second because it waited for something.
        involuntary: Switches a second because it was made to make room.
        migrations: Moves to another CPU a second.
        last_cpu: Where it ran last.
        nice: Nice value.
        priority: Policy and priority in words.
        affinity: CPUs it may run on.
        storms: What is marked: `switches`, `migrations`, `starved`.
    """

    tid: int
    name: str
    state: str
    cpu_share: float | None
    wait_share: float | None
    voluntary: float | None
    involuntary: float | None
    migrations: float | None
    last_cpu: int
    nice: int
    priority: str
    affinity: frozenset[int]
    storms: tuple[str, ...]


@dataclass(frozen=True)
class Rates:
    """All threads between two snapshots.

    Attributes:
        pid: The process.
        name: Its name.
        seconds: Time between the snapshots.
        threads: Those that live, busiest first.
        started: Ids that came meanwhile.
        ended: Ids that went; what they did since the first snapshot is not known.
    """

    pid: int
    name: str
    seconds: float
    threads: tuple[ThreadRate, ...]
    started: tuple[int, ...]
    ended: tuple[int, ...]


def compare(before: Snapshot, after: Snapshot, limits: StormLimits | None = None) -> Rates:
    """The rates between two snapshots of one process.

    Raises:
        CpuError: They are not two snapshots of one process, in this order.
    """
    if before.pid != after.pid or after.at_ns <= before.at_ns:
        raise CpuError("compare two snapshots of one process, the earlier first")
    limits = limits or StormLimits()
    earlier = {tid: sample for tid, sample in before.threads.items() if _lives_on(sample, after)}
    threads = [_rate(earlier.get(tid), sample, before.at_ns, limits) for tid, sample in after.threads.items()]
    threads.sort(key=lambda rate: (-(rate.cpu_share or 0.0), rate.tid))
    return Rates(
        pid=after.pid,
        name=after.threads[after.pid].name if after.pid in after.threads else "",
        seconds=(after.at_ns - before.at_ns) / 1e9,
        threads=tuple(threads),
        started=tuple(sorted(after.threads.keys() - earlier.keys())),
        ended=tuple(sorted(before.threads.keys() - earlier.keys())),
    )


def _lives_on(sample: ThreadSample, after: Snapshot) -> bool:
    later = after.threads.get(sample.tid)
    return later is not None and later.start_ticks == sample.start_ticks


def _rate(before: ThreadSample | None, now: ThreadSample, since_ns: int, limits: StormLimits) -> ThreadRate:
    # A thread that was born meanwhile has all its counters from this time.
    elapsed_ns = max(now.at_ns - (since_ns if before is None else before.at_ns), 1)
    run = _difference(now.run_ns, before.run_ns if before else 0, elapsed_ns)
    wait = _difference(now.wait_ns, before.wait_ns if before else 0, elapsed_ns)
    earlier = before.switches if before else Switches(0, 0, 0)
    voluntary, involuntary, migrations = _switch_rates(earlier, now.switches, elapsed_ns / 1e9)
    attributes = Attributes(now.policy, now.nice, now.realtime_priority)
    return ThreadRate(
        tid=now.tid,
        name=now.name,
        state=now.state,
        cpu_share=run,
        wait_share=wait,
        voluntary=voluntary,
        involuntary=involuntary,
        migrations=migrations,
        last_cpu=now.last_cpu,
        nice=now.nice,
        priority="deadline" if now.policy == _DEADLINE else show_priority(attributes),
        affinity=now.affinity,
        storms=tuple(_storms(voluntary, involuntary, migrations, wait, limits)),
    )


def _switch_rates(
    before: Switches | None, now: Switches | None, seconds: float
) -> tuple[float | None, float | None, float | None]:
    if before is None or now is None:
        return None, None, None
    migrations = _difference(now.migrations, before.migrations, seconds)
    return (
        (now.voluntary - before.voluntary) / seconds,
        (now.involuntary - before.involuntary) / seconds,
        migrations,
    )


def _difference(now: int | None, before: int | None, elapsed: float) -> float | None:
    return None if now is None or before is None else (now - before) / elapsed


def _storms(
    voluntary: float | None,
    involuntary: float | None,
    migrations: float | None,
    wait: float | None,
    limits: StormLimits,
) -> list[str]:
    marks = []
    if (voluntary or 0.0) + (involuntary or 0.0) >= limits.switches:
        marks.append("switches")
    if (migrations or 0.0) >= limits.migrations:
        marks.append("migrations")
    if (wait or 0.0) >= limits.wait_share:
        marks.append("starved")
    return marks


_DEADLINE = 6  # its times are not in `stat`
