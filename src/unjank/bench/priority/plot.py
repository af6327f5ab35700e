"""The figures of `bench priority` as a picture: what each thread had of a CPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unjank.bench._plot import require_plotting, save
from unjank.bench.priority.table import title


def draw(content: Mapping[str, Any], target: Path) -> None:
    """Draws the document: a group of bars for each experiment, a bar for each thread.

    Raises:
        UnjankError: matplotlib is not installed, or the file cannot be written.
    """
    require_plotting(target)
    from matplotlib.figure import Figure

    results = [result for result in content["results"] if result["name"] == "priority_share"]
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.subplots()
    groups = list(dict.fromkeys(result["experiment"] for result in results))
    threads = 1 + max((result["thread"] for result in results), default=0)
    width = 0.8 / threads
    for result in results:
        at = groups.index(result["experiment"]) + (result["thread"] - (threads - 1) / 2) * width
        colour = "tab:blue" if result["thread"] == 0 else "tab:grey"
        axes.bar(at, result["cpu_share"], width=0.9 * width, color=colour)
        label = f"{result['cpu_share']:.1%}\nnice {result['nice']}"
        top = result["cpu_share"]
        if result["expected"] is not None:
            promised = result["expected"] * result["cpus_used"]
            axes.plot([at - width / 2, at + width / 2], [promised, promised], color="black", linewidth=1)
            top = max(top, promised)
        axes.text(at, top + 0.01, label, ha="center", va="bottom", fontsize="small")
    first = {result["experiment"]: title(result) for result in results if result["thread"] == 0}
    axes.set_xticks(range(len(groups)), [first[group] for group in groups])
    axes.set_ylabel("share of one CPU; lines: promised by the scheduler")
    axes.set_ylim(0, 1.15)
    save(figure, content, target)
