"""Plots of a benchmark's document: ratios with their goals, times over sizes, quantiles of latencies."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from unjank import UnjankError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = MappingProxyType({True: "tab:green", False: "tab:red", None: "tab:grey"})
_SIZES = ("backlog", "size")
_SUFFIXES = (".svg", ".png", ".pdf")


def require_plotting(target: Path) -> None:
    """Before a long measurement: whether a plot could be made at all.

    Raises:
        UnjankError: matplotlib is not installed, or the file's name has an ending it cannot write.
    """
    try:
        import matplotlib  # noqa: F401  only to see whether it is there
    except ImportError as error:
        raise UnjankError(
            "--plot needs matplotlib, which is not installed; pip install 'unjank[bench]'"
        ) from error
    if target.suffix not in _SUFFIXES:
        raise UnjankError(f"cannot plot to {target}: the name must end in {', '.join(_SUFFIXES)}")


def plot(content: Mapping[str, Any], target: Path) -> None:
    """Draws the document that `document()` made.

    Raises:
        UnjankError: As `require_plotting()`, or the file cannot be written.
    """
    require_plotting(target)
    from matplotlib.figure import Figure

    panels = _panels(content)
    heights = [inches for inches, _ in panels]
    figure = Figure(figsize=(10, 1 + sum(heights)), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for place, (_, draw) in zip(axes, panels, strict=True):
        draw(place)
    save(figure, content, target)


def _panels(content: Mapping[str, Any]) -> "list[tuple[float, Callable[[Axes], None]]]":
    """What there is to draw, each with its height in inches."""
    ratios, lines = content["ratios"], _lines_over_size(content["results"])
    quantiles = _quantiles(content["results"])
    panels: list[tuple[float, Callable[[Axes], None]]] = [
        (1 + 0.32 * len(ratios), partial(_draw_ratios, ratios=ratios))
    ]
    if lines:
        panels.append((4, partial(_draw_lines, lines=lines)))
    if quantiles:
        panels.append((4, partial(_draw_quantiles, quantiles=quantiles)))
    return panels


def save(figure: "Figure", content: Mapping[str, Any], target: Path) -> None:
    """Writes a figure, with the benchmark and the machine in its title.

    Raises:
        UnjankError: The file cannot be written.
    """
    figure.suptitle(_title(content))
    try:
        figure.savefig(target)
    except OSError as error:
        raise UnjankError(
            f"cannot write {target}: {error.strerror}; name another file with --plot"
        ) from error


def _title(content: Mapping[str, Any]) -> str:
    machine = content["machine"]
    threads = "with the GIL" if machine["gil"] else "free-threaded"
    return (
        f"unjank bench {content['benchmark']}: {machine['cpu']}, {machine['cpus']} CPUs, "
        f"Python {machine['python']} {threads}"
    )


def _draw_ratios(axes: "Axes", ratios: Mapping[str, Mapping[str, Any]]) -> None:
    """One row each, logarithmic; a ratio of zero has no place on it and is told in its label alone."""
    names = list(ratios)[::-1]
    for row, name in enumerate(names):
        about = ratios[name]
        if about["low"] > 0:
            colour = _COLOURS[about.get("met")]
            axes.plot([about["low"], about["high"]], [row, row], color=colour, linewidth=2)
            axes.plot(about["median"], row, "o", color=colour)
        for goal in filter(None, about.get("goal", {}).values()):
            axes.plot(goal, row, "|", color="black", markersize=14)
    axes.set_yticks(
        range(len(names)), [f"{name} ({ratios[name]['of']}) {_short(ratios[name])}" for name in names]
    )
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xscale("log")
    axes.axvline(1, color="lightgrey", zorder=0)
    axes.set_xlabel("ratio: median and interval; bars: goals")


def _short(about: Mapping[str, Any]) -> str:
    return f"{about['median']:.3g}"


def _lines_over_size(results: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """Times of the same thing at three sizes or more."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for result in results:
        size = next((result[key] for key in _SIZES if key in result), None)
        if size is not None and result["unit"].startswith("ns/"):
            facts = [
                str(result[key])
                for key in ("queue", "of", "comparator", "producers", "pattern", "clock")
                if key in result
            ]
            label = " ".join(
                [result["name"], *facts, *(["few due times"] * bool(result.get("few_due_times")))]
            )
            found[label].append((size, result["median"]))
    return {label: sorted(points) for label, points in found.items() if len(points) >= 3}


def _draw_lines(axes: "Axes", lines: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    for label, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=label.replace("_", " "))
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("pending messages")
    axes.set_ylabel("ns each")
    axes.legend()


def _quantiles(results: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[str, float]]]:
    """Of each latency its quantiles, in the order in which they were noted."""
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for result in results:
        if "quantile" in result and result["unit"] == "ns":
            label = f"{result['name']}_{result['of']}".replace("_", "\n")
            found[label].append((result["quantile"], result["median"]))
    return found


def _draw_quantiles(axes: "Axes", quantiles: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    names = list(dict.fromkeys(name for points in quantiles.values() for name, _ in points))
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        offset = (number - (len(names) - 1) / 2) * width
        heights = [dict(points).get(name, float("nan")) / 1e3 for points in quantiles.values()]
        bars = axes.bar([place + offset for place in range(len(quantiles))], heights, width, label=name)
        axes.bar_label(bars, fmt="%.3g", fontsize="x-small")
    axes.set_xticks(range(len(quantiles)), list(quantiles))
    axes.set_yscale("log")
    every = [ns / 1e3 for points in quantiles.values() for _, ns in points]
    axes.set_ylim(0.5 * min(every), 3 * max(every))
    axes.set_ylabel("µs")
    axes.legend()
