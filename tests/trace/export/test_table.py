"""The table is aligned, and safe to look at."""

from tests.trace.export.conftest import AWKWARD, Export


def test_aligned(export: Export) -> None:
    """Text stands to the left, numbers to the right, NULL is marked, wide letters count double."""
    sql = "SELECT 'Ledger' AS name, 7 AS waits UNION ALL SELECT '漢字', 1200 UNION ALL SELECT NULL, NULL"
    assert export("table", sql).decode() == (
        "name     waits\n------  ------\nLedger       7\n漢字      1200\n[NULL]  [NULL]\n"
    )


def test_terminal_is_not_obeyed(export: Export) -> None:
    """Control characters and marks of direction are written as escapes, in values and in column names."""
    text = export("table", AWKWARD).decode()
    assert "\x1b" not in text
    assert r"\x1b[31m" in text
    assert r'a"b,\nc' in text
    text = export("table", "SELECT char(8238) || 'evil' AS \"name\x1b[2J\"").decode()
    assert r"\u202eevil" in text
    assert r"name\x1b[2J" in text


def test_widths_come_from_the_first_rows(export: Export) -> None:
    """Thousands of rows are all there; one that is wider than the first ones just sticks out."""
    sql = """
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000)
    SELECT CASE x WHEN 4000 THEN 'much wider than before' ELSE 'a' END AS t, x FROM c
    """
    lines = export("table", sql).decode().splitlines()
    assert len(lines) == 5002
    assert lines[2] == "a     1"
    assert lines[4001] == "much wider than before  4000"


def test_longest_texts_do_not_stretch_the_table(export: Export) -> None:
    """A column is at most 80 wide, and a longer text is still whole."""
    sql = "SELECT replace(hex(zeroblob(100)), '0', 'x') AS long, 1 AS n UNION ALL SELECT 'short', 2"
    lines = export("table", sql).decode().splitlines()
    assert lines[1] == "-" * 80 + "  -"
    assert lines[2] == "x" * 200 + "  1"


def test_no_rows(export: Export) -> None:
    """A result without rows is a header, a statement without a result is nothing."""
    assert export("table", "SELECT 1 AS a WHERE 0") == b"a\n-\n"
    assert export("table", "CREATE TABLE table_nothing AS SELECT 1") == b""
