"""Query results as plain Python rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import repeat
from typing import Any

Value = int | float | str | bytes | None
Row = dict[str, Value]


class CellKind(IntEnum):
    """What a cell holds (`QueryResult.CellsBatch.CellType` of Perfetto's protos)."""

    NULL = 1
    INTEGER = 2
    FLOAT = 3
    STRING = 4
    BLOB = 5


@dataclass(frozen=True)
class ResultBatch:
    """Some rows of a result, as the engine sent them.

    Attributes:
        columns: names as the query gave them, which may repeat.
        cells: the `QueryResult.CellsBatch` message; decoded on demand.
    """

    columns: tuple[str, ...]
    cells: Any

    @property
    def row_count(self) -> int:
        """Rows in this batch."""
        return len(self.cells.cells) // len(self.columns) if self.columns else 0

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """The rows, each a tuple as wide as `columns`.

        Text that is not UTF-8 has U+FFFD in place of the bad bytes; select `CAST(x AS BLOB)` for the bytes.
        """
        batch = self.cells
        sources: dict[int, Iterator[Value]] = {
            CellKind.NULL: repeat(None),
            CellKind.INTEGER: iter(batch.varint_cells),
            CellKind.FLOAT: iter(batch.float64_cells),
            CellKind.STRING: iter(_split_strings(batch.string_cells)),
            CellKind.BLOB: iter(batch.blob_cells),
        }
        values = (next(sources[kind]) for kind in batch.cells)
        return zip(*[values] * len(self.columns), strict=True)

    def kinds(self) -> list[set[int]]:
        """For each column, which kinds of cell occur in it (members of `CellKind`)."""
        kinds = list(self.cells.cells)
        width = len(self.columns)
        return [set(kinds[column::width]) for column in range(width)]


def _split_strings(joined: str | bytes) -> list[str]:
    """The strings of a batch: joined, each ended by NUL; as text only from perfetto's own classes."""
    text = joined if isinstance(joined, str) else joined.decode("utf-8", "replace")
    return text.split("\0")[:-1]


def unique_names(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Makes names usable as keys: a repeated one gets `:1`, `:2`, … appended, as SQLite names them."""
    seen: set[str] = set()
    names = []
    for column in columns:
        name, n = column, 0
        while name in seen:
            n += 1
            name = f"{column}:{n}"
        seen.add(name)
        names.append(name)
    return tuple(names)
