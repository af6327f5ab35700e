"""The figures of `bench cores` as a picture: a heat map of each home."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjank import UnjankError
from unjank.bench._plot import require_plotting, save
from unjank.bench.cores._matrix import Matrix, matrices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 16  # CPUs up to which each cell has its number
_LEAST_SPAN = 1.5  # of the slowest that a colour tells apart, over the fastest: less is noise, not structure


def draw(content: Mapping[str, Any], target: Path) -> None:
    """Draws the document.

    Raises:
        UnjankError: matplotlib is not installed, there is nothing to draw, or the file cannot be written.
    """
    require_plotting(target)
    from matplotlib.figure import Figure

    found = matrices(content)
    if not found:
        raise UnjankError(
            "there is no heat map to draw: no pair of CPUs gave a figure; repeat on a quiet machine"
        )
    size = min(16.0, 4 + 0.35 * len(found[0].labels))
    figure = Figure(figsize=((size + 1.8) * len(found), size + 0.5), layout="compressed")
    scale = _scale(found)
    for axes, matrix in zip(figure.subplots(1, len(found), squeeze=False)[0], found, strict=True):
        _draw_matrix(axes, matrix, scale)
    save(figure, content, target)


def _draw_matrix(axes: "Axes", matrix: Matrix, scale: tuple[float, float]) -> None:
    count = len(matrix.labels)
    rows = [[matrix.ns.get((row, column), float("nan")) for column in range(count)] for row in range(count)]
    axes.set_facecolor("lightgrey")
    image = axes.imshow(rows, cmap="viridis_r", vmin=scale[0], vmax=scale[1])
    step = max(1, count // 32)
    axes.set_xticks(range(0, count, step), matrix.labels[::step], rotation=90 if count > _MOST_NUMBERS else 0)
    axes.set_yticks(range(0, count, step), matrix.labels[::step])
    axes.set_xlabel("CPU that answers")
    axes.set_ylabel("CPU that begins")
    whose = "at the CPU that begins" if matrix.home == "own" else "on another node"
    axes.set_title(f"page home {whose}; ~ readings differ, grey: no figure", fontsize="medium")
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, label="ns one way")
    if count <= _MOST_NUMBERS:
        _write_numbers(axes, matrix, sum(scale) / 2)


def _scale(found: Sequence[Matrix]) -> tuple[float, float]:
    """What the first and the last colour stand for, ns: the same on all maps."""
    every = [ns for matrix in found for ns in matrix.ns.values()]
    return min(every), max(*every, _LEAST_SPAN * min(every))


def _write_numbers(axes: "Axes", matrix: Matrix, middle: float) -> None:
    for (row, column), ns in matrix.ns.items():
        mark = "~" if (row, column) in matrix.unstable else ""
        colour = "white" if ns > middle else "black"
        axes.text(column, row, f"{ns:.0f}{mark}", ha="center", va="center", color=colour)
