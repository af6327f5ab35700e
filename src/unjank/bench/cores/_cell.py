"""One pair: its readings, whether each may be believed, and whether they agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unjank import UnjankError, _bench
from unjank.bench._majority import keep
from unjank.bench._statistics import median_interval
from unjank.bench.cores._pairs import Pair

_ROUND_TRIPS = 300
_SAMPLES = 5
_PATIENCE_S = 0.2
_LEAST_NS = 0.5  # a core cannot even ask for a line in that time: light goes 15 cm
_STABLE = 0.1  # width of the interval over the median


@dataclass(frozen=True)
class Reading:
    """One measurement of a pair.

    Attributes:
        ns: One way, the median of its samples; 0 where there are none.
        whole: Whether as many exchanges happened as there had to be.
        cpus: CPUs on which the two threads were seen.
        migrations: By the kernel's count; None where it keeps none.
        node: Memory node of the page; None where the kernel does not tell.
    """

    ns: float
    whole: bool
    cpus: tuple[tuple[int, ...], tuple[int, ...]]
    migrations: int | None
    node: int | None


@dataclass(frozen=True)
class Cell:
    """All readings of a pair.

    Attributes:
        pair: Which.
        values_ns: Of the readings that may be believed, by their turn.
        reason: Why there is no figure; empty if there is one.
        node: The page's memory node.
        refusals: Why each of the other readings may not be believed.
    """

    pair: Pair
    values_ns: Mapping[int, float]
    reason: str = ""
    node: int | None = None
    refusals: tuple[str, ...] = ()

    @property
    def spread(self) -> float:
        """Width of the median's interval, as a share of the median."""
        found = median_interval(list(self.values_ns.values()))
        return (found.high - found.low) / found.median

    @property
    def stable(self) -> bool:
        """Whether a repetition would give nearly the same."""
        return self.spread <= _STABLE


def read(pair: Pair, divisor: int = 1) -> Reading:
    """Measures once, on a fresh page.

    Raises:
        UnjankError: The kernel refused something.
    """
    try:
        measured = _bench.core_pair(
            pair.first,
            pair.second,
            home_cpu=pair.home_cpu,
            round_trips=max(20, _ROUND_TRIPS // divisor),
            samples=_SAMPLES,
            patience=_PATIENCE_S,
        )
    except OSError as error:
        raise UnjankError(
            f"CPU {pair.first} to CPU {pair.second}: {error.strerror}; choose others with --cpus"
        ) from error
    sides = (measured.first, measured.second)
    counted = [side.migrations for side in sides]
    return Reading(
        median_interval(measured.one_way_ns).median if measured.one_way_ns else 0.0,
        measured.exchanges == measured.exchanges_wanted,
        (tuple(measured.first.cpus), tuple(measured.second.cpus)),
        None if None in counted else sum(filter(None, counted)),
        measured.node,
    )


def judge(reading: Reading, pair: Pair, nodes: Mapping[int, int | None]) -> str:
    """Why a reading cannot be believed; empty if it can.

    Args:
        reading: What was measured.
        pair: What was to be measured.
        nodes: The memory node of each CPU.
    """
    if not reading.whole:
        return f"the two did not run at once within {_PATIENCE_S:g} s: others use these CPUs"
    if reading.cpus != ((pair.first,), (pair.second,)) or reading.migrations:
        return "a thread was not on its CPU all the time"
    if reading.ns < _LEAST_NS:
        return f"{reading.ns:g} ns is no time that a line can take"
    if pair.home == "remote":
        if reading.node is None:
            return "the kernel does not tell where the page is"
        if reading.node in (nodes[pair.first], nodes[pair.second]):
            return f"the page is on node {reading.node}, which is not remote; that node may be full"
    return ""


def settle(pair: Pair, readings: Sequence[Reading], nodes: Mapping[int, int | None]) -> Cell:
    """Keeps the readings that may be believed; without a majority there is no figure."""
    kept = keep(readings, lambda reading: judge(reading, pair, nodes))
    values = {turn: reading.ns for turn, reading in kept.readings.items()}
    node = next((reading.node for reading in kept.readings.values()), None)
    return Cell(pair, values, kept.reason, node, kept.refusals)
