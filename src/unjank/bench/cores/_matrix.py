"""A document's cells as matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Matrix:
    """Latencies by row and column.

    Attributes:
        home: `own` or `remote`.
        labels: Of rows and columns.
        ns: By (row, column); what was refused or not sampled is not there.
        unstable: Cells whose readings differ.
    """

    home: str
    labels: tuple[str, ...]
    ns: Mapping[tuple[int, int], float]
    unstable: frozenset[tuple[int, int]]


def matrices(content: Mapping[str, Any]) -> list[Matrix]:
    """One of each home there is, CPUs in rows and columns; the page of a cell is home at its row's CPU."""
    cells = [result for result in content["results"] if result["name"] == "core_to_core"]
    homes = [home for home in ("own", "remote") if any(cell["home"] == home for cell in cells)]
    cpus = sorted({cell[side] for cell in cells for side in ("first", "second")})
    return [_matrix(home, [cell for cell in cells if cell["home"] == home], cpus) for home in homes]


def _matrix(home: str, cells: Sequence[Mapping[str, Any]], cpus: Sequence[int]) -> Matrix:
    place = {cpu: row for row, cpu in enumerate(cpus)}
    at = {(place[cell["first"]], place[cell["second"]]): cell for cell in cells}
    return Matrix(
        home,
        tuple(map(str, cpus)),
        {where: cell["median"] for where, cell in at.items()},
        frozenset(where for where, cell in at.items() if not cell["stable"]),
    )


def condensed(matrix: Matrix, most: int) -> Matrix:
    """Neighbouring CPUs put together, until there are at most `most` rows; a cell is its pairs' median."""
    size = -(-len(matrix.labels) // most)
    if size == 1:
        return matrix
    groups: dict[tuple[int, int], list[float]] = {}
    for (row, column), ns in matrix.ns.items():
        groups.setdefault((row // size, column // size), []).append(ns)
    starts = range(0, len(matrix.labels), size)
    labels = [f"{matrix.labels[n]}-{matrix.labels[min(n + size, len(matrix.labels)) - 1]}" for n in starts]
    shaky = frozenset((row // size, column // size) for row, column in matrix.unstable)
    return Matrix(
        matrix.home, tuple(labels), {where: median(values) for where, values in groups.items()}, shaky
    )
