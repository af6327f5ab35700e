"""A comparison as tables."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from unjank.bench.compare._changes import Change, Comparison

_COLOURS = {"same": "dim", "better": "green", "worse": "red", "changed": "yellow"}


def tables(comparison: Comparison, *, everything: bool) -> Iterator[Table]:
    """One of ratios, one of results.

    Args:
        comparison: The two runs.
        everything: Also results that are the same; ratios are always all there.
    """
    if comparison.ratios:
        yield _table("ratio", comparison.ratios)
    shown = [change for change in comparison.results if everything or change.verdict != "same"]
    if shown:
        yield _table("result", shown)


def _table(what: str, changes: Sequence[Change]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(what, no_wrap=True)
    for column in ("before", "after", "factor", "low", "high"):
        table.add_column(column, justify="right")
    table.add_column("")
    for change in changes:
        medians = [f"{figure.interval.median:.4g}" for figure in (change.before, change.after)]
        factor = change.factor
        figures = (
            ["", "", ""] if factor is None else [f"{v:.3f}" for v in (factor.median, factor.low, factor.high)]
        )
        label = f"{change.before.label} ({change.before.unit})"
        verdict = Text(change.verdict, style=_COLOURS[change.verdict])
        table.add_row(Text(label), *medians, *figures, verdict)
    return table
