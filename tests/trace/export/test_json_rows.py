"""JSON output is always valid, and every value has its own form."""

import json
import math
from io import BytesIO

import pytest
from tests.trace.export.conftest import AWKWARD, Export

from unjank import QueryError, TraceProcessor
from unjank.trace.export.json_rows import JsonWriter, encode


def _strict(text: bytes | str) -> object:
    """Parses, refusing Python's own extensions NaN and Infinity."""

    def refuse(constant: str) -> object:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def test_awkward_values(export: Export) -> None:
    """NULL, blobs, 64-bit integers, infinity, bad UTF-8, quotes, controls and twins all come out."""
    assert _strict(export("json", AWKWARD)) == [
        {
            "missing": None,
            "empty": "",
            "blob": {"base64": "AP8="},
            "big": 2**63 - 1,
            "fraction": 0.1,
            "endless": math.inf,
            "endless_down": -math.inf,
            "bad": "a\ufffd",
            "quoted": 'a"b,\nc',
            "red": "\x1b[31m",
            "wide": "é漢",
            "twin": 1,
            "twin:1": 2,
        }
    ]


def test_not_a_number_is_null() -> None:
    """JSON has no NaN."""
    assert encode(math.nan) == "null"


@pytest.mark.parametrize("sql", ["SELECT 1 AS a WHERE 0", "CREATE TABLE json_nothing AS SELECT 1"])
def test_no_rows_is_an_empty_array(export: Export, sql: str) -> None:
    """A result without rows, or without columns, is []."""
    assert _strict(export("json", sql)) == []


def test_one_row_per_line(export: Export) -> None:
    """Each row is a line of its own, so that line tools can read it."""
    lines = export("json", "SELECT 1 AS a UNION ALL SELECT 2").decode().splitlines()
    assert lines == ["[", '{"a": 1},', '{"a": 2}', "]"]


def test_valid_after_an_error(tp: TraceProcessor) -> None:
    """An error after some rows leaves an array that can be parsed."""
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)"
    out = BytesIO()
    writer = JsonWriter(out)
    with pytest.raises(QueryError):
        tp.stream(
            f"{numbers} SELECT CASE x WHEN 90000 THEN abs(-9223372036854775808) ELSE x END FROM c",
            writer.write,
        )
    writer.abandon()
    assert isinstance(_strict(out.getvalue()), list)
