"""Columns whose values differ in type from trace to trace."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjank import TraceProcessor
from unjank.fleet._columns import Kind, arrow_type, batch_of_cells, batch_of_rows, fit, kind_of, widest_schema
from unjank.trace import ResultBatch

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")

_VALUES: dict[Kind, Any] = {
    Kind.NULL: None,
    Kind.INTEGER: 7,
    Kind.FLOAT: 0.5,
    Kind.TEXT: "seven",
    Kind.BLOB: b"\x00\xff",
}
_VALUE = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(-1e9, 1e9), st.text(), st.binary())


@pytest.mark.parametrize("kind", Kind)
def test_kind_and_arrow_type_are_one_to_one(kind: Kind) -> None:
    """Each kind has an Arrow type, which leads back to it."""
    assert kind_of(arrow_type(kind)) is kind
    assert batch_of_rows(["x"], [[_VALUES[kind]]]).schema.field("x").type == arrow_type(kind)


@pytest.mark.parametrize("wide", Kind)
@pytest.mark.parametrize("narrow", Kind)
def test_two_traces_get_the_wider_type(narrow: Kind, wide: Kind) -> None:
    """NULL < integer < float < text < blob; values keep their meaning."""
    batches = [batch_of_rows(["x"], [[_VALUES[kind]]]) for kind in (narrow, wide)]
    schema = widest_schema(batch.schema for batch in batches)
    assert schema.field("x").type == arrow_type(max(narrow, wide))
    first = fit(batches[0], schema).column(0).to_pylist()[0]
    if narrow == wide or narrow == Kind.NULL:
        assert first == _VALUES[narrow]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1"), (-2.0, "-2"), (0.1, "0.1"), (1e300, "1e+300"), (float("nan"), "nan")],
)
def test_number_as_text(value: float, text: str) -> None:
    """An integer and the float of the same value give the same text, whichever way they came."""
    schema = pyarrow.schema([("x", pyarrow.string())])
    assert fit(batch_of_rows(["x"], [[value]]), schema).column(0).to_pylist() == [text]
    assert batch_of_rows(["x"], [[value], ["a"]]).column(0).to_pylist() == [text, "a"]


def test_columns_by_name() -> None:
    """A trace without a column has NULL there."""
    one, two = batch_of_rows(["a", "b"], [[1, 2]]), batch_of_rows(["b", "c"], [["x", 0.5]])
    schema = widest_schema([one.schema, two.schema])
    assert schema.names == ["a", "b", "c"]
    assert [fit(batch, schema).to_pylist()[0] for batch in (one, two)] == [
        {"a": 1, "b": "2", "c": None},
        {"a": None, "b": "x", "c": 0.5},
    ]


@given(st.lists(st.tuples(_VALUE, _VALUE), min_size=1), st.integers(0, 40))
def test_the_order_of_widening_does_not_matter(rows: list[tuple[Any, Any]], cut: int) -> None:
    """Rows that come in two batches end as the same table as rows that come in one."""
    whole = batch_of_rows(["a", "b"], rows)
    pieces = [batch_of_rows(["a", "b"], piece) for piece in (rows[:cut], rows[cut:])]
    schema = widest_schema(piece.schema for piece in pieces)
    assert schema == whole.schema
    assert [row for piece in pieces for row in fit(piece, schema).to_pylist()] == whole.to_pylist()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a, .5 AS b, 'x' AS c, NULL AS d, x'0f' AS e UNION ALL SELECT 3, 1, '', NULL, x''",
        "SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'y' UNION ALL SELECT 0.5, NULL",
        "SELECT NULL AS a, NULL AS b UNION ALL SELECT NULL, NULL",
        "SELECT 9223372036854775807 AS a, 'ü' AS b, 'z' AS c UNION ALL SELECT -9223372036854775808, '', 'w'",
    ],
)
def test_engine_rows(sql: str) -> None:
    """The quick way through uniform columns gives what row by row gives."""
    batches: list[ResultBatch] = []
    with TraceProcessor(b"\x0a\x00") as tp:
        tp.stream(sql, batches.append)
    (found,) = (batch_of_cells(batch.columns, batch.cells) for batch in batches)
    expected = batch_of_rows(batches[0].columns, list(batches[0].rows()))
    assert found.equals(expected)
