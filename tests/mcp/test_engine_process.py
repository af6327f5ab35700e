"""The engine in a process of its own: deadlines, row limits, and what is left behind."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.findings.builder import MS

from unjank import EngineError, QueryError, TraceError
from unjank.mcp._engine_process import EngineProcess
from unjank.mcp._messages import Opening

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {what} FROM n"
GENEROUS = 120.0


@pytest.fixture
def engine(trace: Path) -> Iterator[EngineProcess]:
    """The trace in an engine's process, ended after the test."""
    with EngineProcess(Opening(str(trace))) as process:
        yield process


def pid_of(engine: EngineProcess) -> int:
    """The engine's process."""
    assert engine._process is not None
    assert engine._process.pid is not None
    return engine._process.pid


def wait_for_end(pid: int) -> None:
    """Waits until a process is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([handle], [], [], GENEROUS)
    os.close(handle)
    assert ended


def test_rows(engine: EngineProcess) -> None:
    """All rows come with their number, and the process stays for the next query."""
    result = engine.run_sql("SELECT name, dur FROM slice", 10, GENEROUS)
    assert (result.columns, len(result.rows), result.total) == (["name", "dur"], 1, 1)
    first = pid_of(engine)
    assert engine.run_sql("SELECT 1 AS one, NULL AS none", 10, GENEROUS).rows == [[1, None]]
    assert pid_of(engine) == first


@pytest.mark.parametrize(("wanted", "rows", "total"), [(3, 3, 1000), (1000, 1000, 1000), (2000, 1000, 1000)])
def test_row_limit(engine: EngineProcess, wanted: int, rows: int, total: int) -> None:
    """No more rows than wanted, but all are counted."""
    sql = ENDLESS.format(what="x") + " LIMIT 1000"
    result = engine.run_sql(sql, wanted, GENEROUS)
    assert (len(result.rows), result.total) == (rows, total)
    assert result.rows[:2] == [[1], [2]]


def test_endless_query_is_stopped(engine: EngineProcess) -> None:
    """A query without an end is stopped at its deadline, its process is gone, and the next one works."""
    engine.run_sql("SELECT 1", 1, GENEROUS)
    first = pid_of(engine)
    with pytest.raises(QueryError, match=r"stopped after 0\.2 s"):
        engine.run_sql(ENDLESS.format(what="SUM(x)"), 10, 0.2)
    wait_for_end(first)
    assert engine.run_sql("SELECT COUNT() AS slices FROM slice", 1, GENEROUS).rows == [[1]]
    assert pid_of(engine) != first


def test_endless_rows_give_the_first_ones(engine: EngineProcess) -> None:
    """Rows without an end give as many as were wanted, and are not counted for ever."""
    result = engine.run_sql(ENDLESS.format(what="x"), 5, GENEROUS)
    assert (result.rows, result.total) == ([[1], [2], [3], [4], [5]], None)
    assert engine.run_sql("SELECT 1", 1, GENEROUS).rows == [[1]]


def test_wrong_sql(engine: EngineProcess) -> None:
    """A wrong statement shows its place, and harms nothing."""
    with pytest.raises(QueryError, match="no such column: nonsense"):
        engine.run_sql("SELECT nonsense FROM slice", 1, GENEROUS)
    assert engine.run_sql("SELECT 1", 1, GENEROUS).rows == [[1]]


def test_cells(engine: EngineProcess) -> None:
    """Bytes are hexadecimal, long texts are cut, infinity is a text: JSON has none of them."""
    sql = "SELECT x'00ff' AS bytes, printf('%.*c', 5000, 'x') AS long, 9e999 AS infinite, 0.5 AS half"
    ((data, text, infinite, half),) = engine.run_sql(sql, 1, GENEROUS).rows
    assert (data, infinite, half) == ("00ff", "inf", 0.5)
    assert str(text) == "x" * 4000 + "… (5000 characters)"


def test_findings(engine: EngineProcess) -> None:
    """Findings come as the report's JSON has them."""
    found = engine.find_all(GENEROUS)
    assert [(f["kind"], f["dur_ns"]) for f in found.findings] == [("lock-contention", 30 * MS)]
    assert found.notes


def test_killed_between_queries(engine: EngineProcess) -> None:
    """An engine that was killed meanwhile is started again."""
    engine.run_sql("SELECT 1", 1, GENEROUS)
    first = pid_of(engine)
    os.kill(first, signal.SIGKILL)
    wait_for_end(first)
    try:
        assert engine.run_sql("SELECT 1", 1, GENEROUS).rows == [[1]]
    except EngineError as error:
        # The pipe may have taken the request before it noticed; then the next query works.
        assert "exit code -9" in str(error)  # noqa: PT017
    assert engine.run_sql("SELECT 1", 1, GENEROUS).rows == [[1]]


def test_unreadable_trace(tmp_path: Path) -> None:
    """A file that is no trace is named, also the second time."""
    path = tmp_path / "none.txt"
    path.write_text("nothing of the kind")
    with EngineProcess(Opening(str(path))) as engine:
        for _ in range(2):
            with pytest.raises(TraceError, match=r"none\.txt"):
                engine.run_sql("SELECT 1", 1, GENEROUS)


def test_trace_that_aborts_the_engine(traces_dir: Path) -> None:
    """A trace that makes the engine abort is an error like any other."""
    opening = Opening(str(traces_dir / "bad_gecko_aborts_engine.json"))
    with EngineProcess(opening) as engine, pytest.raises(TraceError, match="bad_gecko_aborts_engine"):
        engine.run_sql("SELECT 1", 1, GENEROUS)


def test_ends_with_its_parent(trace: Path) -> None:
    """A parent that dies during an endless query takes the engine's process with it."""
    program = dedent(
        f"""
        import os, sys, threading, time
        from unjank.mcp._engine_process import EngineProcess
        from unjank.mcp._messages import Opening

        if __name__ == "__main__":
            engine = EngineProcess(Opening({str(trace)!r}))
            engine.run_sql("SELECT 1", 1, 120)
            sql = {ENDLESS.format(what="SUM(x)")!r}
            threading.Thread(target=engine.run_sql, args=(sql, 1, 600), daemon=True).start()
            print(engine._process.pid, flush=True)
            sys.stdin.read()
            os._exit(0)
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    wait_for_end(child)
