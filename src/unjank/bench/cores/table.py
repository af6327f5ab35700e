"""The figures of `bench cores` for the terminal: a heat map, and what each kind of pair takes."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from unjank.bench.cores._matrix import Matrix, condensed, matrices
from unjank.bench.cores._pairs import RELATIONS

_MOST_COLUMNS = 24
_COOL, _HOT = (0, 110, 60), (170, 30, 30)  # red, green, blue of the shortest and the longest


def tables(content: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A heat map of each home, then the kinds of pairs.

    Args:
        content: The document.
    """
    for matrix in matrices(content):
        smaller = condensed(matrix, _MOST_COLUMNS)
        yield _title(smaller, cpus=len(matrix.labels))
        yield _heat_map(smaller)
    cells = [result for result in content["results"] if result["name"] == "core_to_core"]
    if cells:
        yield _kinds(cells)


def _title(matrix: Matrix, cpus: int) -> Text:
    whose = "at the row's CPU" if matrix.home == "own" else "on another node"
    size = "" if cpus == len(matrix.labels) else f"; {cpus} CPUs, neighbours together"
    return Text(f"One way, ns; page home {whose}; ~ readings differ{size}", style="italic")


def _heat_map(matrix: Matrix) -> Table:
    table = Table(box=None, pad_edge=False, padding=0)
    table.add_column("CPU ")
    for label in matrix.labels:
        table.add_column(f" {label}", justify="right", no_wrap=True)
    low, high = min(matrix.ns.values()), max(matrix.ns.values())
    for row, label in enumerate(matrix.labels):
        cells = [_cell(matrix, (row, column), low, high) for column in range(len(matrix.labels))]
        table.add_row(label, *cells)
    return table


def _cell(matrix: Matrix, where: tuple[int, int], low: float, high: float) -> Text:
    ns = matrix.ns.get(where)
    if ns is None:
        return Text(" . ")
    red, green, blue = _colour((ns - low) / (high - low) if high > low else 0.0)
    mark = "~" if where in matrix.unstable else " "
    return Text(f" {ns:.0f}{mark}", style=f"white on rgb({red},{green},{blue})")


def _colour(share: float) -> tuple[int, int, int]:
    red, green, blue = (round(cool + share * (hot - cool)) for cool, hot in zip(_COOL, _HOT, strict=True))
    return red, green, blue


def _kinds(cells: Sequence[Mapping[str, Any]]) -> Table:
    title = "By what the two share"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in ("share", "page"):
        table.add_column(column)
    for column in ("pairs", "median, ns", "least", "most", "stable"):
        table.add_column(column, justify="right")
    for relation in RELATIONS:
        for home in ("own", "remote"):
            found = [cell for cell in cells if (cell["relation"], cell["home"]) == (relation, home)]
            if found:
                table.add_row(relation, home, str(len(found)), *_summary(found))
    return table


def _summary(cells: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    values = [cell["median"] for cell in cells]
    stable = sum(cell["stable"] for cell in cells)
    return (f"{median(values):.1f}", f"{min(values):.1f}", f"{max(values):.1f}", f"{stable / len(cells):.0%}")
