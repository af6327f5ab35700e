"""The figures of `bench atomics` as tables, one for each layout."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from unjank.bench.atomics._cases import LAYOUTS

_TITLES = {
    "shared": "One counter for all threads",
    "packed": "A counter for each thread, side by side",
    "padded": "A counter for each thread, on cache lines of its own",
}


def tables(content: Mapping[str, Any]) -> Iterator[Table]:
    """Threads in rows, operations in columns.

    Args:
        content: The document.
    """
    results = [result for result in content["results"] if result["name"] == "atomics"]
    for layout in LAYOUTS:
        found = [result for result in results if result["layout"] == layout]
        if found:
            yield _table(_TITLES[layout], found)


def _table(title: str, results: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title=f"{title}; ns a count", title_justify="left", box=None, pad_edge=False)
    kinds = list(dict.fromkeys(label(result) for result in results))
    table.add_column("threads", justify="right")
    for kind in kinds:
        table.add_column(kind, justify="right")
        table.add_column("low - high", justify="right", style="dim")
    for threads in sorted({result["threads"] for result in results}):
        found = {label(result): result for result in results if result["threads"] == threads}
        cells = [text for kind in kinds for text in _cells(found.get(kind))]
        table.add_row(str(threads), *cells)
    return table


def label(result: Mapping[str, Any]) -> str:
    """The operation, with its instructions where there are several."""
    how = result["instructions"]
    name = str(result["operation"]).replace("_", " ")
    return name if how == "native" or name == "lock" else f"{name} {how}"


def _cells(result: Mapping[str, Any] | None) -> tuple[str, str]:
    if result is None:
        return ("refused", "")
    return (f"{result['median']:.2f}", f"{result['low']:.2f} - {result['high']:.2f}")
