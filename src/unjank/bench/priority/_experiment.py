"""Busy threads at given nice values, on one CPU or wherever the scheduler puts them."""

import errno
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from unjank import UnjankError, _bench

Name = Literal["favoured", "equal", "unbound"]

_ANYWHERE = -1
_STEP = 1.25  # a nice level is worth this: kernel/sched/core.c, sched_prio_to_weight
_LOWEST_NICE, _HIGHEST_NICE = -20, 19


@dataclass(frozen=True)
class Experiment:
    """What runs.

    Attributes:
        name: `favoured`: one thread before the others, on one CPU; `equal`: all alike, on one CPU; `unbound`:
            as favoured, on any CPU.
        nices: A nice value for each thread; the first is the favoured one's.
        cpu: Where all of them run; None leaves it to the scheduler.
    """

    name: Name
    nices: tuple[int, ...]
    cpu: int | None


@dataclass(frozen=True)
class Reading:
    """What became of it.

    Attributes:
        cpu_ns: CPU time of each thread.
        wall_ns: How long they worked.
        nices: As the kernel told them at the end.
        cpus: Where each thread was seen.
        migrations: Of all threads, by the kernel's count; None where it keeps none.
    """

    cpu_ns: tuple[int, ...]
    wall_ns: int
    nices: tuple[int, ...]
    cpus: tuple[tuple[int, ...], ...]
    migrations: int | None

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the CPU time that all of them got together."""
        return tuple(ns / max(1, sum(self.cpu_ns)) for ns in self.cpu_ns)

    @property
    def cpus_used(self) -> float:
        """CPUs' worth of time that all of them got together; the rest of a CPU went to others."""
        return sum(self.cpu_ns) / self.wall_ns


def expected_shares(nices: Sequence[int]) -> tuple[float, ...]:
    """What the scheduler promises on one CPU: in proportion to weights, a quarter more for each level."""
    weights = [_STEP**-nice for nice in nices]
    return tuple(weight / sum(weights) for weight in weights)


def check_nices(nices: Sequence[int]) -> None:
    """Whether these are nice values, for two threads or more.

    Raises:
        UnjankError: They are not.
    """
    if len(nices) < 2 or not all(_LOWEST_NICE <= nice <= _HIGHEST_NICE for nice in nices):
        raise UnjankError(
            f"'{','.join(map(str, nices))}' is not what shares need: two nice values or more, each from "
            f"{_LOWEST_NICE} to {_HIGHEST_NICE}, as --nices=-20,0,0,0"
        )


def run_once(experiment: Experiment, seconds: float) -> Reading:
    """Lets the threads work for `seconds`. They end with it, also when it is interrupted.

    Raises:
        UnjankError: The kernel refused a nice value or a CPU.
    """
    place = _ANYWHERE if experiment.cpu is None else experiment.cpu
    try:
        crew = _bench.BusyCrew([(nice, place) for nice in experiment.nices])
    except OSError as error:
        raise UnjankError(_why(error, experiment)) from error
    try:
        crew.start()
        time.sleep(seconds)
    finally:
        reports = crew.stop()
    migrations = [report.side.migrations for report in reports]
    return Reading(
        tuple(report.side.cpu_ns for report in reports),
        crew.wall_ns,
        tuple(report.nice for report in reports),
        tuple(tuple(report.side.cpus) for report in reports),
        None if None in migrations else sum(filter(None, migrations)),
    )


def _why(error: OSError, experiment: Experiment) -> str:
    lowest = min(experiment.nices)
    if error.errno in (errno.EACCES, errno.EPERM):
        return (
            f"this process may not set nice {lowest}: it has neither CAP_SYS_NICE nor RLIMIT_NICE "
            f"{20 - lowest}; run as root, raise the limit with prlimit, or try --nices 0,19,19,19"
        )
    return f"{error.strerror}; choose another --cpu"
