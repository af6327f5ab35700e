"""Figures that others published for this experiment: theirs, on their machine, to hold ours beside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from unjank.bench.pingpong._placements import APART, PlacementName
from unjank.bench.pingpong._run import Parties
from unjank.bench.pingpong._verdict import CONTEXT_SWITCH, CROSS_CORE, Measured


@dataclass(frozen=True)
class Theirs:
    """What was published of one measurement: a token through two pipes, 200,000 rounds.

    Attributes:
        ns: Cost of a switch.
        measured: What it was, by their account.
    """

    ns: float
    measured: Measured


@dataclass(frozen=True)
class Compared:
    """One row of the comparison.

    Attributes:
        what: In words.
        parties: Threads or processes.
        placements: Where they run; the first that this machine has.
        theirs: What was published of it, if anything.
    """

    what: str
    parties: Parties
    placements: tuple[PlacementName, ...]
    theirs: Theirs | None = None


COMPARISON = (
    Compared("two threads, one core", "threads", ("same-cpu",), Theirs(527.0, CONTEXT_SWITCH)),
    Compared("two threads, not pinned", "threads", ("unpinned",), Theirs(8_700.0, CROSS_CORE)),
    Compared("two threads, two cores", "threads", APART),
    Compared("two processes, one core", "processes", ("same-cpu",), Theirs(539.0, CONTEXT_SWITCH)),
)

RATIOS: Mapping[str, float] = MappingProxyType(
    {"unpinned_vs_same_core": 8_700.0 / 527.0, "processes_vs_threads": 539.0 / 527.0}
)


def ours_of(row: Compared, results: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The result of a document that belongs to a row; None if it was refused or not measured."""
    found = {
        result["placement"]: result
        for result in results
        if (result["name"], result.get("medium"), result.get("parties")) == ("pingpong", "pipe", row.parties)
    }
    return next((found[name] for name in row.placements if name in found), None)
