"""Plots of a benchmark's document: ratios with their intervals and goals, and times over sizes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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

    lines = _lines_over_size(content["results"])
    panels = 1 + bool(lines)
    figure = Figure(figsize=(10, 2 + 0.32 * len(content["ratios"]) + 4 * bool(lines)), layout="constrained")
    axes = figure.subplots(panels, 1, squeeze=False)[:, 0]
    _draw_ratios(axes[0], content["ratios"])
    if lines:
        _draw_lines(axes[1], lines)
    save(figure, content, target)


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
