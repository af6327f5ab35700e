"""Rows as the engine means them: kinds of value, NULs, bytes that are no text."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from unjank import TraceProcessor
from unjank.trace import CellKind, ResultBatch, unique_names


@pytest.fixture(scope="module")
def tp() -> Iterator[TraceProcessor]:
    """An engine with no trace."""
    with TraceProcessor() as made:
        yield made


def test_kinds_of_value(tp: TraceProcessor) -> None:
    """NULL, empty text and empty blob stay apart; integers keep 64 bits; infinity stays infinity."""
    sql = (
        "SELECT NULL a, '' b, x'' c, x'00ff' d, 9223372036854775807 e, -9223372036854775808 f, 1.5 g, 9e999 h"
    )
    assert tp.rows(sql) == [
        {
            "a": None,
            "b": "",
            "c": b"",
            "d": b"\x00\xff",
            "e": 2**63 - 1,
            "f": -(2**63),
            "g": 1.5,
            "h": float("inf"),
        }
    ]


def test_text_ends_at_nul_and_neighbours_keep_their_place(tp: TraceProcessor) -> None:
    """The engine's text ends at the first NUL; columns behind it don't shift; a blob has all the bytes."""
    sql = "SELECT 'a' || char(0) || 'b' AS s, 'next' AS t, CAST('a' || char(0) || 'b' AS BLOB) AS bytes"
    assert tp.rows(sql) == [{"s": "a", "t": "next", "bytes": b"a\0b"}]


def test_text_that_is_not_utf8(tp: TraceProcessor) -> None:
    """Bad bytes become U+FFFD, in their place, and other text in the batch is left alone."""
    sql = "SELECT CAST(x'61ff62' AS TEXT) AS bad, 'é' AS good, CAST(CAST(x'61ff62' AS TEXT) AS BLOB) AS bytes"
    assert tp.rows(sql) == [{"bad": "a\ufffdb", "good": "é", "bytes": b"a\xffb"}]


def test_repeated_names(tp: TraceProcessor) -> None:
    """Columns of the same name are all kept."""
    assert tp.rows("SELECT 1 AS a, 2 AS a, 3 AS a") == [{"a": 1, "a:1": 2, "a:2": 3}]
    assert unique_names(("a", "a:1", "a")) == ("a", "a:1", "a:2")


def test_last_statement_counts(tp: TraceProcessor) -> None:
    """All statements run, the rows are the last one's; one without a result has no rows."""
    assert tp.rows("CREATE TABLE t1 AS SELECT 7 AS x; SELECT x FROM t1; SELECT x + 1 AS y FROM t1;") == [
        {"y": 8}
    ]
    assert tp.rows("SELECT 1; CREATE TABLE t2 AS SELECT 1") == []


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("INCLUDE PERFETTO MODULE time.conversion", ()),
        ("CREATE OR REPLACE PERFETTO TABLE t3 AS SELECT 1 AS x", ()),
        ("CREATE TABLE t4 AS SELECT 1 AS x", ()),
        ("SELECT 0", ("0",)),
        ("SELECT 1 AS x WHERE 0", ("x",)),
    ],
)
def test_columns_of_nothing(tp: TraceProcessor, sql: str, columns: tuple[str, ...]) -> None:
    """A statement without a result has no columns, PerfettoSQL's own too; a result without rows has them."""
    batches: list[ResultBatch] = []
    tp.stream(sql, batches.append)
    assert [batch.columns for batch in batches] == [columns]


def test_a_million_rows(tp: TraceProcessor) -> None:
    """A million rows arrive in many batches, in order, none lost and none twice."""
    batches: list[int] = []
    state = {"next": 1}

    def check(batch: ResultBatch) -> None:
        batches.append(batch.row_count)
        for number, text in batch.rows():
            assert number == state["next"]
            assert text == f"row {number}"
            state["next"] += 1

    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000)"
    tp.stream(f"{numbers} SELECT x, 'row ' || x FROM c", check)
    assert sum(batches) == 1_000_000
    assert max(batches) < 100_000


def test_empty_result_has_columns(tp: TraceProcessor) -> None:
    """The receiver learns the columns of a result with no rows."""
    seen: list[ResultBatch] = []
    tp.stream("SELECT 1 AS a, 2 AS b WHERE 0", seen.append)
    assert [(batch.columns, list(batch.rows())) for batch in seen] == [(("a", "b"), [])]


def test_kinds_per_column(tp: TraceProcessor) -> None:
    """A batch tells which kinds of value each column has."""
    seen: list[list[set[int]]] = []
    tp.stream("SELECT 1 AS a, NULL AS b UNION ALL SELECT 'x', 2.5", lambda batch: seen.append(batch.kinds()))
    assert seen == [[{CellKind.INTEGER, CellKind.STRING}, {CellKind.NULL, CellKind.FLOAT}]]


def test_same_answers_as_perfettos_iterator(api32_trace: Path) -> None:
    """`rows` and perfetto's `query` give the same values for a real table."""
    sql = "SELECT id, ts, dur, name, parent_id FROM slice ORDER BY id"
    with TraceProcessor(api32_trace) as tp:
        ours = [tuple(row.values()) for row in tp.rows(sql)]
        theirs = [(row.id, row.ts, row.dur, row.name, row.parent_id) for row in tp.query(sql)]
    assert len(ours) == 9887
    assert ours == theirs
