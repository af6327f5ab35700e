"""Notes on what a trace lacks, in words."""

import pytest

from unjank.trace.notes import stats_notes
from unjank.trace.rows import Row


@pytest.mark.parametrize(("value", "words"), [(1, "left out 1 switch, "), (2, "left out 2 switches, ")])
def test_counts_agree_with_their_words(value: int, words: str) -> None:
    """One switch is not "1 switches"."""
    row: Row = {
        "name": "mismatched_sched_switch_tids",
        "severity": "error",
        "value": value,
        "description": "",
    }
    (note,) = stats_notes([row])
    assert words in note
