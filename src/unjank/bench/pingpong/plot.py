"""The figures of `bench pingpong` as a picture: each case's distribution, and the published comparison."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unjank.bench._plot import require_plotting, save
from unjank.bench.pingpong.published import COMPARISON, ours_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = MappingProxyType({"context switch": "tab:blue", "cross-core coordination": "tab:orange"})
_BAR = 0.4


def draw(content: Mapping[str, Any], target: Path) -> None:
    """Draws the document.

    Raises:
        UnjankError: matplotlib is not installed, or the file cannot be written.
    """
    require_plotting(target)
    from matplotlib.figure import Figure

    cells = [result for result in content["results"] if result["name"] == "pingpong"]
    figure = Figure(figsize=(15, 3 + 0.28 * len(cells)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1])
    _draw_distributions(left, cells)
    _draw_comparison(right, cells)
    save(figure, content, target)


def _draw_distributions(axes: "Axes", cells: Sequence[Mapping[str, Any]]) -> None:
    for row, cell in enumerate(reversed(cells)):
        colour, ns = _COLOURS[cell["measured"]], cell["quantiles"]
        axes.plot([ns["p5"], ns["p99"]], [row, row], color=colour, linewidth=1)
        axes.plot([ns["p25"], ns["p75"]], [row, row], color=colour, linewidth=5, solid_capstyle="butt")
        axes.plot(ns["p50"], row, "|", color="black", markersize=9)
    axes.set_yticks(
        range(len(cells)),
        [f"{cell['medium']}, {cell['parties']}, {cell['placement']}" for cell in reversed(cells)],
    )
    for measured, colour in _COLOURS.items():
        axes.plot([], [], color=colour, linewidth=5, label=measured)
    axes.set_xscale("log")
    axes.set_xlabel("ns per hand-over: p5 to p99, p25 to p75, median")
    axes.grid(axis="x", color="lightgrey")
    axes.legend()


def _draw_comparison(axes: "Axes", cells: Sequence[Mapping[str, Any]]) -> None:
    base, their_base = ours_of(COMPARISON[0], cells), COMPARISON[0].theirs
    axes.set_yscale("log")
    axes.axhline(1, color="lightgrey", linewidth=1, zorder=0)
    for place, row in enumerate(COMPARISON):
        ours = ours_of(row, cells)
        if base and ours:
            _bar(axes, place - _BAR / 2, ours["median"], base["median"], _COLOURS[ours["measured"]])
        else:
            axes.text(place - _BAR / 2, 1, "no figure", ha="center", va="bottom", rotation=90)
        if row.theirs and their_base:
            _bar(axes, place + _BAR / 2, row.theirs.ns, their_base.ns, "lightgrey")
    axes.bar(0, 0, color="lightgrey", label="published, their machine")
    axes.set_xticks(range(len(COMPARISON)), [row.what.replace(", ", ",\n") for row in COMPARISON])
    axes.set_ylabel("cost of a hand-over, of that on one core")
    drawn = [bar.get_height() for bars in axes.containers for bar in bars if bar.get_height() > 0]
    axes.set_ylim(0.5 * min(drawn, default=1), 4 * max(drawn, default=1))  # with room for the words
    axes.legend()


def _bar(axes: "Axes", at: float, ns: float, base: float, colour: str) -> None:
    axes.bar(at, ns / base, width=_BAR, color=colour)
    label = f"{ns / base:.2f}\n{ns:,.0f} ns"
    axes.text(at, ns / base, label, ha="center", va="bottom", fontsize="x-small")
