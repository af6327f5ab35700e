"""Which repetitions count."""

from unjank.bench._majority import keep


def _odd_is_bad(value: int) -> str:
    return f"{value % 10} is odd" if value % 2 else ""


def test_a_majority_is_kept_by_turn() -> None:
    """What is refused leaves a gap, so that turns of two series can be paired."""
    kept = keep([2, 3, 4], _odd_is_bad)
    assert (kept.readings, kept.reason, kept.refusals) == ({0: 2, 2: 4}, "", ("3 is odd",))


def test_half_is_no_majority() -> None:
    """Then nothing is kept, and the commonest reason is told."""
    kept = keep([2, 3, 4, 13, 6, 5], _odd_is_bad)
    assert kept.readings == {}
    assert kept.reason == "3 of 6 repetitions are refused, as: 3 is odd"
