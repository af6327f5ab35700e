"""Which of repeated measurements count, when each may be refused."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Reading = TypeVar("Reading")


@dataclass(frozen=True)
class Kept(Generic[Reading]):
    """The repetitions that may be believed.

    Attributes:
        readings: By their turn; none of them if they are not more than half.
        reason: Why there are none; empty if there are some.
        refusals: Why each of the others is left out.
    """

    readings: Mapping[int, Reading]
    reason: str
    refusals: tuple[str, ...]


def keep(readings: Sequence[Reading], judge: Callable[[Reading], str]) -> Kept[Reading]:
    """Asks `judge` why each cannot be believed (empty: it can), and keeps a majority."""
    reasons = [judge(reading) for reading in readings]
    good = {turn: readings[turn] for turn, reason in enumerate(reasons) if not reason}
    bad = tuple(filter(None, reasons))
    if 2 * len(good) > len(readings):
        return Kept(good, "", bad)
    return Kept({}, f"{len(bad)} of {len(readings)} repetitions are refused, as: {most_often(bad)}", bad)


def most_often(reasons: Sequence[str]) -> str:
    """The commonest of some reasons."""
    return Counter(reasons).most_common(1)[0][0]
