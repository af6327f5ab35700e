"""A table of the result for the writers of `unjank query`, so that both print alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal

from unjank.trace import ResultBatch, Value
from unjank.trace.export.formats import WRITERS

PrintFormat = Literal["table", "csv", "json"]


@dataclass(frozen=True)
class _ArrowBatch(ResultBatch):
    """Rows of a pyarrow.RecordBatch, which is `cells` here."""

    @property
    def row_count(self) -> int:
        """Rows in this batch."""
        return int(self.cells.num_rows)

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """The rows; what SQLite has no type for becomes text."""
        columns = [[_plain(value) for value in column.to_pylist()] for column in self.cells.columns]
        return zip(*columns, strict=True)


def print_table(table: Any, form: PrintFormat, out: Any) -> None:  # noqa: ANN401  a Table; a BinaryIO
    """Writes a pyarrow.Table to a binary stream."""
    names = tuple(table.schema.names)
    writer = WRITERS[form](out)
    for batch in table.to_batches() or [table]:
        writer.write(_ArrowBatch(names, batch))
    writer.finish()


def _plain(value: object) -> Value:
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value.total_seconds()) if isinstance(value, timedelta) else str(value)
