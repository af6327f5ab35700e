"""Parquet files have the types that the values have."""

import io
import sys
from io import BytesIO

import pytest
from tests.trace.export.conftest import AWKWARD, Export

from unjank import UnjankError
from unjank.trace.export.parquet import ParquetWriter

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


def test_awkward_values(export: Export) -> None:
    """Each value has its own type; a column of NULLs only has none; twins are told apart."""
    table = parquet.read_table(io.BytesIO(export("parquet", AWKWARD)))
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "missing": "null",
        "empty": "string",
        "blob": "binary",
        "big": "int64",
        "fraction": "double",
        "endless": "double",
        "endless_down": "double",
        "bad": "string",
        "quoted": "string",
        "red": "string",
        "wide": "string",
        "twin": "int64",
        "twin:1": "int64",
    }
    (row,) = table.to_pylist()
    assert (row["missing"], row["empty"], row["blob"], row["big"]) == (None, "", b"\x00\xff", 2**63 - 1)
    assert (row["endless"], row["bad"], row["red"]) == (float("inf"), "a\ufffd", "\x1b[31m")


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        ("1, 2.5, NULL", "double", [1.0, 2.5, None]),
        ("1, 'two', 3.5", "string", ["1", "two", "3.5"]),
        ("1, x'00', 'two'", "binary", [b"1", b"\x00", b"two"]),
        ("NULL, NULL, 7", "int64", [None, None, 7]),
    ],
)
def test_mixed_kinds(export: Export, values: str, type_: str, expected: list[object]) -> None:
    """A column of several kinds gets the type that can hold all of them, wherever they occur."""
    rows = " UNION ALL ".join(f"SELECT {value} AS v" for value in values.split(", "))
    table = parquet.read_table(io.BytesIO(export("parquet", rows)))
    assert str(table.schema.field("v").type) == type_
    assert table.column("v").to_pylist() == expected


def test_kind_that_shows_late(export: Export) -> None:
    """The type fits even where a text comes after 250,000 integers; no row is lost between groups."""
    sql = """
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 250001)
    SELECT CASE x WHEN 250001 THEN 'end' ELSE x END AS v FROM c
    """
    table = parquet.read_table(io.BytesIO(export("parquet", sql)))
    values = table.column("v").to_pylist()
    assert values == [str(number) for number in range(1, 250001)] + ["end"]


def test_no_rows(export: Export) -> None:
    """A result without rows has its columns."""
    table = parquet.read_table(io.BytesIO(export("parquet", "SELECT 1 AS a, 2 AS b WHERE 0")))
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow the message says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnjankError, match=r"pip install 'unjank\[fleet\]'"):
        ParquetWriter(BytesIO())
