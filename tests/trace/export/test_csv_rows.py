"""CSV is read back by Python's own reader, and NULL differs from empty."""

import csv
import io

import pytest
from tests.trace.export.conftest import AWKWARD, Export

from unjank.trace.export.csv_rows import field


def test_awkward_values(export: Export) -> None:
    """Every value survives quoting."""
    header, row = csv.reader(io.StringIO(export("csv", AWKWARD).decode(), newline=""))
    assert dict(zip(header, row, strict=True)) == {
        "missing": "",
        "empty": "",
        "blob": "x'00ff'",
        "big": "9223372036854775807",
        "fraction": "0.1",
        "endless": "inf",
        "endless_down": "-inf",
        "bad": "a\ufffd",
        "quoted": 'a"b,\nc',
        "red": "\x1b[31m",
        "wide": "é漢",
        "twin": "2",
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        ("", '""'),
        ("a", "a"),
        (" a", '" a"'),
        ('"', '""""'),
        ("a,b", '"a,b"'),
        (b"", "x''"),
        (1.0, "1.0"),
    ],
)
def test_field(value: str | bytes | float | None, expected: str) -> None:
    """NULL is nothing at all, the empty text a pair of quotes."""
    assert field(value) == expected


def test_no_rows(export: Export) -> None:
    """A result without rows is a header, a statement without a result is nothing."""
    assert export("csv", "SELECT 1 AS a, 2 AS b WHERE 0") == b"a,b\n"
    assert export("csv", "CREATE TABLE csv_nothing AS SELECT 1") == b""
