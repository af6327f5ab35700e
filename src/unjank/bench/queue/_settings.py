"""What the parts of `bench queue` have in common."""

import random
from collections.abc import Sequence
from typing import Literal, get_args

Pattern = Literal["random", "increasing", "equal"]

PATTERNS: tuple[Pattern, ...] = get_args(Pattern)
PRODUCERS = 4
HOUR_S = 3600.0
WEEK_S = 7 * 24 * HOUR_S


def delays(pattern: Pattern, count: int, seed: int) -> Sequence[float]:
    """Delays in seconds, all of them in the future: nothing falls due while posting is timed.

    `random`: anywhere in the hour after the next minute. `increasing`: each later than the one before.
    `equal`: one hour each.
    """
    if pattern == "increasing":
        return [HOUR_S + n / 1e3 for n in range(count)]
    if pattern == "equal":
        return [HOUR_S] * count
    chance = random.Random(seed)  # noqa: S311  not for secrets
    return [60.0 + chance.random() * HOUR_S for _ in range(count)]


def nothing() -> None:
    """The callback: what is measured is how it gets there."""
