"""The figures of `bench pingpong` as tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from unjank.bench.pingpong.published import COMPARISON, ours_of


def tables(content: Mapping[str, Any]) -> Iterator[Table]:
    """One of all cases, one of the published comparison.

    Args:
        content: The document.
    """
    cells = [result for result in content["results"] if result["name"] == "pingpong"]
    if cells:
        yield _cases(cells)
    if any(ours_of(row, cells) for row in COMPARISON):
        yield _comparison(cells)


def _cases(cells: list[dict[str, Any]]) -> Table:
    table = Table(title="One hand-over, ns (half a round)", title_justify="left", box=None, pad_edge=False)
    for column in ("through", "between", "placement", "CPUs", "what the kernel counted"):
        table.add_column(column, no_wrap=True)
    for column in ("median", "low", "high", "p99", "sw/round", "apart"):
        table.add_column(column, justify="right")
    for cell in cells:
        counters = cell["counters"]
        table.add_row(
            cell["medium"],
            cell["parties"],
            cell["placement"],
            ",".join(map(str, counters["cpus_seen"])),
            cell["measured"],
            *(f"{cell[key]:,.0f}" for key in ("median", "low", "high")),
            f"{cell['quantiles']['p99']:,.0f}",
            f"{counters['switches_per_round']:.2f}",
            f"{counters['rounds_apart'] / counters['rounds']:.0%}",
        )
    return table


def _comparison(cells: list[dict[str, Any]]) -> Table:
    title = "The published comparison; theirs is their machine's"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("pipes between", "measured here"):
        table.add_column(column, no_wrap=True)
    for column in ("ns", "of one core"):
        table.add_column(column, justify="right")
    table.add_column("theirs measured", no_wrap=True)
    for column in ("ns", "of one core"):
        table.add_column(column, justify="right")
    base, their_base = ours_of(COMPARISON[0], cells), COMPARISON[0].theirs
    for row in COMPARISON:
        ours, theirs = ours_of(row, cells), row.theirs
        table.add_row(
            row.what,
            ours["measured"] if ours else "no figure",
            *_figures(ours["median"] if ours else None, base["median"] if base else None),
            theirs.measured if theirs else "",
            *_figures(theirs.ns if theirs else None, their_base.ns if their_base else None),
        )
    return table


def _figures(ns: float | None, base: float | None) -> tuple[str, str]:
    return ("" if ns is None else f"{ns:,.0f}", "" if ns is None or base is None else f"{ns / base:.2f}")
