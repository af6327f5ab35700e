"""A SQL error is one line with the place in the user's SQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from unjank import QueryError, TraceProcessor
from unjank.trace import SqlError, SqlPosition


@pytest.fixture(scope="module")
def tp() -> Iterator[TraceProcessor]:
    """An engine with no trace."""
    with TraceProcessor() as made:
        yield made


def _error(tp: TraceProcessor, sql: str) -> SqlError:
    with pytest.raises(QueryError) as caught:
        tp.rows(sql)
    assert isinstance(caught.value, SqlError)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("sql", "line", "column", "reason"),
    [
        ("SELECT nope FROM (SELECT 1)", 1, 8, "no such column: nope"),
        ("SELECT 1;\nSELECT\n  nope(3)", 3, 3, "no such function: nope"),
        ("SELEC", 1, 1, "syntax error"),
        ("SELECT 1 FROM", 1, 14, "incomplete input"),
        ("CREATE PERFETTO TABLE t AS SELECT nope", 1, 35, "no such column: nope"),
    ],
)
def test_position_and_reason(tp: TraceProcessor, sql: str, line: int, column: int, reason: str) -> None:
    """Line and column are those of the culprit, counted over all statements."""
    error = _error(tp, sql)
    assert error.position == SqlPosition("stdin", line, column)
    assert str(error) == f"SQL error at line {line}, column {column}: {reason}"
    assert reason in error.engine_text


def test_error_while_running(tp: TraceProcessor) -> None:
    """An error that comes after thousands of rows is an error, not a short result."""
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)"
    error = _error(tp, f"{numbers} SELECT CASE x WHEN 90000 THEN abs(-9223372036854775808) ELSE x END FROM c")
    assert "integer overflow" in str(error)


@pytest.mark.parametrize("sql", ["", "   ", "-- only a comment"])
def test_nothing_to_run(tp: TraceProcessor, sql: str) -> None:
    """No statement at all is an error of its own."""
    error = _error(tp, sql)
    assert error.position is None
    assert "No valid SQL" in str(error)


def test_unknown_module(tp: TraceProcessor) -> None:
    """An unknown module of the standard library is named."""
    assert "'android.nope'" in str(_error(tp, "INCLUDE PERFETTO MODULE android.nope"))


@pytest.mark.parametrize("sql", ["ATTACH DATABASE '{}' AS x", "VACUUM INTO '{}'"])
def test_files_are_refused(tp: TraceProcessor, tmp_path: Path, sql: str) -> None:
    """SQL can't open or make a file, and the error says so."""
    target = tmp_path / "leak.db"
    assert "SQL can't access files" in str(_error(tp, sql.format(target)))
    assert not target.exists()


def test_extensions_and_shell_functions_are_not_there(tp: TraceProcessor) -> None:
    """SQLite's ways to load code and to touch files are not compiled in."""
    for call in ("load_extension('x')", "readfile('/etc/passwd')", "writefile('/tmp/x', 'y')", "edit('x')"):
        assert "no such function" in str(_error(tp, f"SELECT {call}"))


def test_engine_goes_on_after_an_error(tp: TraceProcessor) -> None:
    """A wrong statement does not cost the engine."""
    _error(tp, "SELECT nope")
    assert tp.rows("SELECT 1 AS one") == [{"one": 1}]


def test_error_in_a_module_of_the_users_own(tmp_path: Path) -> None:
    """An error inside a package is placed both in the query and in the package."""
    from perfetto.trace_processor.api import TraceProcessorConfig

    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bad.sql").write_text("CREATE PERFETTO TABLE t AS\nSELECT nope;")
    with TraceProcessor(config=TraceProcessorConfig(add_sql_packages=[str(folder)])) as tp:
        error = _error(tp, "INCLUDE PERFETTO MODULE mine.bad;")
    assert error.position == SqlPosition("stdin", 1, 1)
    assert "(in mine.bad, line 2, column 8): no such column: nope" in str(error)
