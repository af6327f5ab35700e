"""Rows as Arrow columns, and what becomes of a column whose values differ in type from trace to trace.

A column's type is the widest of its values' types, in the order of `Kind`: only NULLs, integers, floats,
text, blobs. A number that becomes text is written so that it does not matter which way it came: `1` for the
integer and for the float 1.0.

`unjank.trace` is imported where it is used: while that takes its time, the workers' processes start already.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from unjank.fleet._extras import require_pyarrow

if TYPE_CHECKING:
    from unjank.trace import ResultBatch, Value

# Above this, neighbouring integers are the same float.
_EXACT_IN_FLOAT = 1 << 53

Batch = Any  # a pyarrow.RecordBatch, without static type
Array = Any  # a pyarrow.Array
Schema = Any  # a pyarrow.Schema


class Kind(IntEnum):
    """Types of columns, each holding all that come before it."""

    NULL = 0
    INTEGER = 1
    FLOAT = 2
    TEXT = 3
    BLOB = 4


_OF_VALUE: dict[type, Kind] = {
    type(None): Kind.NULL,
    bool: Kind.INTEGER,
    int: Kind.INTEGER,
    float: Kind.FLOAT,
    str: Kind.TEXT,
    bytes: Kind.BLOB,
}


def arrow_type(kind: Kind) -> Any:  # noqa: ANN401  a pyarrow.DataType
    """The Arrow type of a kind."""
    arrow = require_pyarrow()
    makers = (arrow.null, arrow.int64, arrow.float64, arrow.string, arrow.binary)
    return makers[kind]()


def kind_of(type_: Any) -> Kind:  # noqa: ANN401  a pyarrow.DataType
    """The kind that `arrow_type` made a type of.

    Raises:
        KeyError: It is none of them.
    """
    return {arrow_type(kind): kind for kind in Kind}[type_]


def batch_of_cells(names: Sequence[str], cells: Any) -> Batch:  # noqa: ANN401  a CellsBatch message
    """Rows as the engine sent them."""
    from unjank.trace import ResultBatch

    batch = ResultBatch(tuple(names), cells)
    kinds = [max(_kinds_of_cells()[kind] for kind in found) for found in batch.kinds() if found]
    columns = _uniform_columns(batch) or list(zip(*batch.rows(), strict=True))
    return _batch(names, columns, kinds)


def batch_of_rows(names: Sequence[str], rows: Sequence[Sequence["Value"]]) -> Batch:
    """Rows of Python values."""
    columns: list[Sequence[Value]] = list(zip(*rows, strict=True)) or [()] * len(names)
    kinds = [max((_OF_VALUE[type(value)] for value in column), default=Kind.NULL) for column in columns]
    return _batch(names, columns, kinds)


def widest_schema(schemas: Iterable[Schema]) -> Schema:
    """A schema that holds the rows of all: every column, in order of appearance, in its widest type."""
    kinds: dict[str, Kind] = {}
    for schema in schemas:
        for field in schema:
            kinds[field.name] = max(kinds.get(field.name, Kind.NULL), kind_of(field.type))
    arrow = require_pyarrow()
    return arrow.schema([(name, arrow_type(kind)) for name, kind in kinds.items()])


def fit(rows: Any, schema: Schema) -> Any:  # noqa: ANN401  a RecordBatch or Table, and the same again
    """Rows with the columns and types of a schema that is at least as wide; missing columns are NULL."""
    arrow = require_pyarrow()
    columns = []
    for field in schema:
        index = rows.schema.get_field_index(field.name)
        columns.append(
            arrow.nulls(rows.num_rows, field.type) if index < 0 else _widen(rows.column(index), field.type)
        )
    return type(rows).from_arrays(columns, schema=schema)


def with_constants(batch: Batch, constants: dict[str, str | None]) -> Batch:
    """The rows behind text columns that have one value each; columns of the same name get `:1`."""
    arrow = require_pyarrow()
    names = [*constants, *(_beside(name, constants) for name in batch.schema.names)]
    text = arrow.string()
    fixed = [arrow.repeat(arrow.scalar(value, text), batch.num_rows) for value in constants.values()]
    return arrow.RecordBatch.from_arrays([*fixed, *batch.columns], names=names)


@lru_cache(maxsize=1)
def _kinds_of_cells() -> dict[int, Kind]:
    from unjank.trace import CellKind

    return {
        CellKind.NULL: Kind.NULL,
        CellKind.INTEGER: Kind.INTEGER,
        CellKind.FLOAT: Kind.FLOAT,
        CellKind.STRING: Kind.TEXT,
        CellKind.BLOB: Kind.BLOB,
    }


def _beside(name: str, taken: Iterable[str]) -> str:
    return f"{name}:1" if name in taken else name


def _uniform_columns(batch: "ResultBatch") -> list[Sequence["Value"]] | None:
    """Columns by slicing, which is far quicker than cell by cell; None where a column mixes kinds."""
    from unjank.trace import CellKind

    width, cells = len(batch.columns), batch.cells
    kinds = list(cells.cells)
    if not kinds or kinds != kinds[:width] * batch.row_count:
        return None
    sources = {
        CellKind.NULL: [None] * len(kinds),
        CellKind.INTEGER: cells.varint_cells[:],
        CellKind.FLOAT: cells.float64_cells[:],
        CellKind.BLOB: cells.blob_cells[:],
    }
    if CellKind.STRING in kinds[:width]:
        sources[CellKind.STRING] = _texts(cells.string_cells)
    per_row = {kind: kinds[:width].count(kind) for kind in sources}
    seen = dict.fromkeys(sources, 0)
    columns: list[Sequence[Value]] = []
    for kind in kinds[:width]:
        step = 1 if kind == CellKind.NULL else per_row[kind]
        column = sources[kind][seen[kind] :: step]
        columns.append(column[: batch.row_count])
        seen[kind] += kind != CellKind.NULL
    return columns


def _texts(joined: bytes | str) -> list[str]:
    text = joined if isinstance(joined, str) else joined.decode("utf-8", "replace")
    return text.split("\0")[:-1]


def _batch(names: Sequence[str], columns: Sequence[Sequence["Value"]], kinds: Sequence[Kind]) -> Batch:
    arrow = require_pyarrow()
    if not columns or not columns[0]:
        return arrow.RecordBatch.from_arrays([arrow.nulls(0)] * len(names), names=list(names))
    arrays = [
        arrow.array([_value_as(value, kind) for value in column] if _mixes(column, kind) else column,
                    type=arrow_type(kind))
        for column, kind in zip(columns, kinds, strict=True)
    ]  # fmt: skip
    return arrow.RecordBatch.from_arrays(arrays, names=list(names))


def _mixes(column: Sequence["Value"], kind: Kind) -> bool:
    """Whether values have to be converted to their column's type."""
    return kind > Kind.INTEGER and len({*map(type, column)} - {type(None)}) > 1


def _widen(array: Array, type_: Any) -> Array:  # noqa: ANN401  a pyarrow.DataType
    if array.type == type_:
        return array
    kind = kind_of(type_)
    if kind_of(array.type) == Kind.NULL or kind == Kind.FLOAT:
        return array.cast(type_, safe=False)
    arrow = require_pyarrow()
    values = arrow.array([_value_as(value, kind) for value in array.to_pylist()], type_)
    return arrow.chunked_array([values]) if isinstance(array, arrow.ChunkedArray) else values


def _value_as(value: "Value", kind: Kind) -> "Value":
    """The value in the type of its column."""
    if value is None:
        return None
    if kind == Kind.BLOB:
        return value if isinstance(value, bytes) else _as_text(value).encode()
    if kind == Kind.TEXT:
        return _as_text(value)
    return float(value) if kind == Kind.FLOAT else value


def _as_text(value: "Value") -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_IN_FLOAT:
        return str(int(value))
    return value if isinstance(value, str) else str(value)
