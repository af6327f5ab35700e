"""The figures of `bench priority` as a table."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from unjank.cpu import format_cpu_list

_TITLES = {
    "favoured": "bound to CPU {cpu}",
    "equal": "bound to CPU {cpu}, all alike",
    "unbound": "bound to none",
}


def tables(content: Mapping[str, Any]) -> Iterator[Table]:
    """A row for each thread of each experiment.

    Args:
        content: The document.
    """
    results = [result for result in content["results"] if result["name"] == "priority_share"]
    if not results:
        return
    table = Table(
        title="Shares of the CPU time that all threads got", title_justify="left", box=None, pad_edge=False
    )
    table.add_column("threads", no_wrap=True)
    for column in ("nice", "share", "low", "high", "promised", "of one CPU", "CPUs seen", "CPUs used by all"):
        table.add_column(column, justify="right")
    for result in results:
        first = result["thread"] == 0
        table.add_row(
            title(result) if first else "",
            str(result["nice"]),
            *(f"{result[key]:.2%}" for key in ("median", "low", "high")),
            "" if result["expected"] is None else f"{result['expected']:.2%}",
            f"{result['cpu_share']:.2%}",
            format_cpu_list(result["cpus_seen"]),
            f"{result['cpus_used']:.2f}" if first else "",
        )
    yield table


def title(result: Mapping[str, Any]) -> str:
    """An experiment in words."""
    return _TITLES[result["experiment"]].format(cpu=result["cpu"])
