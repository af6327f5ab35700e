"""The figures of `bench atomics` as a picture: counts a second over threads, a panel for each layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjank.bench._plot import require_plotting, save
from unjank.bench.atomics._cases import LAYOUTS
from unjank.bench.atomics.table import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "shared": "one counter",
    "packed": "a counter each, side by side",
    "padded": "a counter each, padded",
}


def draw(content: Mapping[str, Any], target: Path) -> None:
    """Draws the document.

    Raises:
        UnjankError: matplotlib is not installed, or the file cannot be written.
    """
    require_plotting(target)
    from matplotlib.figure import Figure

    results = [result for result in content["results"] if result["name"] == "atomics"]
    figure = Figure(figsize=(13, 5), layout="constrained")
    panels = figure.subplots(1, len(LAYOUTS), sharey=True)
    for axes, layout in zip(panels, LAYOUTS, strict=True):
        _draw_layout(axes, [result for result in results if result["layout"] == layout])
        axes.set_title(_TITLES[layout])
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("million counts a second, all threads")
    save(figure, content, target)


def _draw_layout(axes: "Axes", results: Sequence[Mapping[str, Any]]) -> None:
    for kind in dict.fromkeys(label(result) for result in results):
        found = sorted((r for r in results if label(r) == kind), key=lambda result: result["threads"])
        rates = [_millions(result["median"]) for result in found]
        below = [rate - _millions(result["high"]) for rate, result in zip(rates, found, strict=True)]
        above = [_millions(result["low"]) - rate for rate, result in zip(rates, found, strict=True)]
        threads = [result["threads"] for result in found]
        axes.errorbar(threads, rates, yerr=[below, above], marker="o", capsize=3, label=kind)
    if results:
        axes.set_xticks(sorted({result["threads"] for result in results}))
        axes.legend()
    axes.set_xlabel("threads")


def _millions(ns: float) -> float:
    """Counts a second, in millions, from ns a count."""
    return 1e3 / ns
