"""Parquet, through pyarrow.

A column's type follows from all its values: integers are int64, floats double, text string, blobs binary.
SQL lets kinds mix: integers among floats become doubles; anything among text becomes text; anything among
blobs becomes bytes. A column of NULLs only has Arrow's null type.

The type is known only after the last row, so the batches are put into an unnamed temporary file first, as
the engine sent them; memory stays bounded.
"""

import struct
import tempfile
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from unjank._errors import UnjankError
from unjank.trace.rows import CellKind, ResultBatch, Value, unique_names

_LENGTH = struct.Struct("<Q")
_ROWS_PER_GROUP = 100_000


class ParquetWriter:
    """Collects a result, then writes it as one Parquet file.

    Raises:
        UnjankError: pyarrow is not installed.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._arrow = _import_pyarrow()
        self._spool: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by finish
        self._columns: tuple[str, ...] = ()
        self._kinds: list[set[int]] = []
        self._message: Any = None

    def write(self, batch: ResultBatch) -> None:
        """Puts a batch aside and notes which kinds of value it has."""
        self._columns = self._columns or batch.columns
        self._kinds = self._kinds or [set() for _ in batch.columns]
        for known, new in zip(self._kinds, batch.kinds(), strict=True):
            known |= new
        self._message = type(batch.cells)
        data = batch.cells.SerializeToString()
        self._spool.write(_LENGTH.pack(len(data)) + data)

    def finish(self) -> None:
        """Writes the file."""
        pyarrow, parquet = self._arrow
        names = unique_names(self._columns)
        types = [_arrow_type(pyarrow, kinds) for kinds in self._kinds]
        schema = pyarrow.schema(list(zip(names, types, strict=True)))
        with self._spool, parquet.ParquetWriter(self._out, schema) as writer:
            for rows in self._row_groups():
                columns = list(zip(*rows, strict=True)) or [()] * len(names)
                arrays = [
                    pyarrow.array([_fit(value, kinds) for value in column], type=type_)
                    for column, kinds, type_ in zip(columns, self._kinds, types, strict=True)
                ]
                writer.write_table(pyarrow.table(arrays, schema=schema))

    def abandon(self) -> None:
        """Writes nothing: half a result would not look like one."""
        self._spool.close()

    def _row_groups(self) -> Iterator[list[tuple[Value, ...]]]:
        rows: list[tuple[Value, ...]] = []
        for batch in self._spooled():
            rows += batch.rows()
            while len(rows) >= _ROWS_PER_GROUP:
                yield rows[:_ROWS_PER_GROUP]
                del rows[:_ROWS_PER_GROUP]
        if rows:
            yield rows

    def _spooled(self) -> Iterator[ResultBatch]:
        self._spool.seek(0)
        while header := self._spool.read(_LENGTH.size):
            cells = self._message.FromString(self._spool.read(_LENGTH.unpack(header)[0]))
            yield ResultBatch(self._columns, cells)


def _import_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnjankError(
            "Parquet needs pyarrow, which is not installed: pip install 'unjank[fleet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def _arrow_type(pyarrow: Any, kinds: set[int]) -> Any:  # noqa: ANN401  a module and one of its types
    if CellKind.BLOB in kinds:
        return pyarrow.binary()
    if CellKind.STRING in kinds:
        return pyarrow.string()
    if CellKind.FLOAT in kinds:
        return pyarrow.float64()
    return pyarrow.int64() if CellKind.INTEGER in kinds else pyarrow.null()


def _fit(value: Value, kinds: set[int]) -> Value:
    """The value in the type that the whole column has."""
    if value is None:
        return None
    if CellKind.BLOB in kinds:
        return value if isinstance(value, bytes) else str(value).encode()
    if CellKind.STRING in kinds:
        return value if isinstance(value, str) else str(value)
    if CellKind.FLOAT in kinds:
        return float(value)
    return value
