"""One measurement: as many rounds as calibrated, and what the kernel counted meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType
from typing import Literal, get_args

from unjank import UnjankError, _bench
from unjank.bench._statistics import quantile
from unjank.bench.pingpong._placements import Placement

Medium = Literal["pipe", "eventfd", "futex"]
Parties = Literal["threads", "processes"]

MEDIA: tuple[Medium, ...] = get_args(Medium)
PARTIES: tuple[Parties, ...] = get_args(Parties)
QUANTILES: Mapping[str, float] = MappingProxyType(
    {"p1": 0.01, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
)
_MOST_ROUNDS = 200_000
_MOST_OVERTIME = 3  # how many times as long as wanted a repetition may take
_TENTHS = 10  # as the C program to compare with counts them


@dataclass(frozen=True)
class Case:
    """What is measured: who hands over to whom, through what, and where."""

    medium: Medium
    parties: Parties
    placement: Placement

    def __str__(self) -> str:
        return f"{self.medium} {self.parties} {self.placement.name}"


@dataclass(frozen=True)
class Counts:
    """One side, as the kernel counted it.

    Attributes:
        voluntary: Switches because it blocked.
        involuntary: Switches because it was preempted.
        migrations: Moves to another CPU; None where the kernel does not tell.
        cpus: CPUs it was seen on.
        cpu_ns: CPU time.
    """

    voluntary: int
    involuntary: int
    migrations: int | None
    cpus: tuple[int, ...]
    cpu_ns: int


@dataclass(frozen=True)
class Run:
    """One measurement.

    Attributes:
        rounds: How many were timed; a round is a token there and back.
        wall_ns: Of all of them.
        tenth_ns: Of a tenth of them, the median of all ten: what others take now and then does not move it.
        quantiles_ns: Of a single round, by name (`p50`).
        rounds_apart: Rounds at whose end the two sides were on different CPUs.
        caller: The side that begins.
        echo: The side that answers.
    """

    rounds: int
    wall_ns: int
    tenth_ns: float
    quantiles_ns: Mapping[str, float]
    rounds_apart: int
    caller: Counts
    echo: Counts

    @property
    def hand_over_ns(self) -> float:
        """Half a round, the median: others that take the CPU now and then do not move it."""
        return self.quantiles_ns["p50"] / 2

    @property
    def switches_per_round(self) -> float:
        """Of both sides, voluntary or not: who is woken may preempt who woke it before that one blocks."""
        sides = (self.caller, self.echo)
        return sum(side.voluntary + side.involuntary for side in sides) / self.rounds

    @property
    def sleeps_per_round(self) -> float:
        """Waits in which a side really fell asleep, of two."""
        return (self.caller.voluntary + self.echo.voluntary) / self.rounds

    @property
    def apart(self) -> float:
        """Share of rounds on two CPUs."""
        return self.rounds_apart / self.rounds

    @property
    def cpu_ns(self) -> int:
        """CPU time of both sides."""
        return self.caller.cpu_ns + self.echo.cpu_ns


def calibrate(case: Case, target_ns: float, least: int) -> int:
    """How many rounds take about `target_ns`, but at least `least`; tens of them.

    Raises:
        UnjankError: As `run_once()`.
    """
    trial = run_once(case, least)
    # Where others take the CPU in between, the mean is far above the median: fewer rounds, bounded time.
    round_ns = max(trial.quantiles_ns["p50"], trial.wall_ns / least / _MOST_OVERTIME)
    wanted = max(least, min(_MOST_ROUNDS, round(target_ns / round_ns)))
    return -(-wanted // _TENTHS) * _TENTHS


def run_once(case: Case, rounds: int) -> Run:
    """Measures.

    Raises:
        UnjankError: The kernel refused something.
    """
    where = case.placement
    try:
        measured = _bench.ping_pong(
            case.medium, case.parties, rounds=rounds, first_cpu=where.first, second_cpu=where.second
        )
    except OSError as error:
        raise UnjankError(
            f"ping-pong, {case}: {error.strerror}; free what it needs, or choose another --pair"
        ) from error
    taken = measured.round_ns
    ordered = sorted(taken)
    return Run(
        rounds,
        measured.wall_ns,
        _median_tenth(taken),
        {name: quantile(ordered, q) for name, q in QUANTILES.items()},
        measured.rounds_apart,
        _counts(measured.caller),
        _counts(measured.echo),
    )


def _median_tenth(taken: Sequence[int]) -> float:
    size = max(1, len(taken) // _TENTHS)
    return median(sum(taken[start : start + size]) for start in range(0, size * _TENTHS, size))


def _counts(side: _bench.Side) -> Counts:
    return Counts(side.voluntary, side.involuntary, side.migrations, tuple(side.cpus), side.cpu_ns)
