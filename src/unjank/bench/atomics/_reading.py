"""One measurement, and whether the counters say that it measured what it should."""

from dataclasses import dataclass

from unjank import UnjankError, _bench
from unjank.bench.atomics._cases import Case

_MOST_WAITING = 0.05  # share of the time that a thread may have been kept off its CPU


@dataclass(frozen=True)
class Thread:
    """What one thread counted.

    Attributes:
        operations: How often it added 1.
        retries: Compare-and-swaps that another had beaten.
        wall_ns: From its begin to its end.
        run_wait_ns: Of that, the time in which it was ready, but others had its CPU; None if not known.
        cpu_ns: CPU time.
        cpus: Where it was seen.
        migrations: By the kernel's count; None where it keeps none.
    """

    operations: int
    retries: int
    wall_ns: int
    run_wait_ns: int | None
    cpu_ns: int
    cpus: tuple[int, ...]
    migrations: int | None

    @property
    def waiting(self) -> float:
        """Share of its time in which others had its CPU."""
        return (self.run_wait_ns or 0) / self.wall_ns


@dataclass(frozen=True)
class Reading:
    """What some threads counted at once.

    Attributes:
        threads: Each of them.
        counted: What the counters add up to.
    """

    threads: tuple[Thread, ...]
    counted: int

    @property
    def operations(self) -> int:
        """Of all threads."""
        return sum(thread.operations for thread in self.threads)

    @property
    def ns_each(self) -> float:
        """Time of one count, of all threads together: what has to fall when threads are added.

        What others took from a single thread is taken off: there is nobody whom it should have met meanwhile.
        """
        alone = len(self.threads) == 1
        return 1 / sum(
            thread.operations / (thread.wall_ns * (1 - (thread.waiting if alone else 0)))
            for thread in self.threads
        )

    @property
    def fairness(self) -> float:
        """What the thread with the least counts has of that with the most."""
        counts = [thread.operations for thread in self.threads]
        return min(counts) / max(counts)


def read(case: Case, seconds: float) -> Reading:
    """Measures once.

    Raises:
        UnjankError: The kernel refused something.
    """
    try:
        measured = _bench.count_at_once(
            case.operation,
            layout=case.layout,
            instructions=case.instructions,
            cpus=list(case.cpus),
            seconds=seconds,
        )
    except OSError as error:
        raise UnjankError(f"counting, {case}: {error.strerror}; choose others with --cpus") from error
    return Reading(tuple(map(_thread, measured.threads)), measured.counted)


def _thread(tally: _bench.Tally) -> Thread:
    side = tally.side
    return Thread(
        tally.operations,
        tally.retries,
        tally.wall_ns,
        side.run_wait_ns,
        side.cpu_ns,
        tuple(side.cpus),
        side.migrations,
    )


def read_best(case: Case, seconds: float, tries: int) -> Reading:
    """The median of several short measurements that may be believed; the last one if none may.

    Short, since a thread that has just slept is left alone for a moment also where others want its CPU.

    Raises:
        UnjankError: As `read()`.
    """
    readings = [read(case, seconds) for _ in range(tries)]
    good = sorted((r for r in readings if not judge(r, case)), key=lambda reading: reading.ns_each)
    return good[len(good) // 2] if good else readings[-1]


def judge(reading: Reading, case: Case) -> str:
    """Why a reading cannot be believed; empty if it can."""
    threads = reading.threads
    if reading.counted != reading.operations:
        return f"counters add up to {reading.counted} after {reading.operations} counts: not atomic"
    if not all(thread.operations for thread in threads):
        return "a thread never got to count: others used its CPU"
    if any(
        thread.cpus != (cpu,) or thread.migrations for thread, cpu in zip(threads, case.cpus, strict=True)
    ):
        return "a thread was not on its CPU all the time"
    waiting = max(thread.waiting for thread in threads)
    if waiting > _MOST_WAITING and 1 < len(threads) == len(set(case.cpus)):
        return f"others had a thread's CPU for {waiting:.0%} of the time: they did not all count at once"
    return ""
