"""The tools of the MCP server, called as the server calls them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.findings.builder import MS, TraceBuilder

from unjank import EngineError, QueryError, TraceError
from unjank.mcp import TraceTools


@pytest.fixture
def wait(tmp_path: Path) -> Path:
    """A trace with a short and a long wait for locks."""
    built = TraceBuilder()
    ui, owner = built.thread(100, 101, "ui"), built.thread(100, 102, "owner")
    built.contention(ui, owner, 10 * MS, 40 * MS)
    built.contention(ui, owner, 50 * MS, 51 * MS, lock="Other", lock_id=2)
    path = tmp_path / "wait.pftrace"
    path.write_bytes(built.data())
    return path


@pytest.fixture
def tools(wait: Path, tmp_path: Path) -> Iterator[TraceTools]:
    """The tools on that trace and on an empty one."""
    empty = tmp_path / "empty.pftrace"
    empty.write_bytes(TraceBuilder().data())
    made = TraceTools([wait, empty])
    yield made
    made.close()


def names(answer: Any, member: str, key: str = "name") -> list[Any]:
    """The names of what an answer lists."""
    return [entry[key] for entry in answer[member]]


def test_traces_have_short_names(tools: TraceTools, wait: Path) -> None:
    """A trace is known by its file's name."""
    answer: Any = tools.list_traces()
    first, second = answer["traces"]
    assert first == {"trace": "wait.pftrace", "path": str(wait), "bytes": wait.stat().st_size}
    assert second["trace"] == "empty.pftrace"


def test_equal_file_names_are_told_apart(wait: Path, tmp_path: Path) -> None:
    """Two files of one name are known by their paths."""
    other = tmp_path / "other" / wait.name
    other.parent.mkdir()
    other.write_bytes(wait.read_bytes())
    assert names(TraceTools([wait, other]).list_traces(), "traces", "trace") == [str(wait), str(other)]


def test_findings(tools: TraceTools) -> None:
    """Findings come worst first, can be limited, and say how many there are of each kind."""
    answer: Any = tools.list_findings()
    assert [finding["severity"] for finding in answer["findings"]] == ["high", "low"]
    assert (answer["kinds"], answer["left_out"]) == ({"lock-contention": 2}, 0)
    assert answer["notes"]
    assert names(tools.list_findings(min_severity="high"), "findings", "dur_ns") == [30 * MS]
    limited: Any = tools.list_findings(most=1)
    assert (len(limited["findings"]), limited["left_out"]) == (1, 1)
    assert names(tools.list_findings(kind="deadlock-cycle"), "findings", "kind") == []
    assert names(tools.list_findings(trace="empty.pftrace"), "findings", "kind") == []


def test_sql_of_a_finding_runs(tools: TraceTools) -> None:
    """What finding_sql gives is what run_sql takes; its tables are listed then."""
    sql = str(tools.finding_sql("lock-contention")["sql"])
    answer: Any = tools.run_sql(sql)
    assert [(row["thread_name"], row["total_ns"]) for row in answer["rows"]] == [
        ("ui", 30 * MS),
        ("ui", 1 * MS),
    ]
    assert names(tools.list_tables("unjank_*"), "tables") == ["unjank_contention"]


def test_tables_and_columns(tools: TraceTools) -> None:
    """Tables are listed with what they hold, those of the standard library described with their module."""
    tables: Any = tools.list_tables("s*")
    assert {"sched", "slice"} <= set(names(tables, "tables"))
    assert not any(name.startswith(("_", "sqlite_")) for name in names(tools.list_tables(), "tables"))
    slices: Any = tools.describe_table("slice")
    assert slices["include"] is None
    assert {"ts", "dur", "name"} <= set(names(slices, "columns"))
    waits: Any = tools.describe_table("android_monitor_contention")
    assert waits["include"] == "INCLUDE PERFETTO MODULE android.monitor_contention;"
    tools.run_sql("CREATE PERFETTO TABLE mine AS SELECT 1 AS one, 'a' AS letter")
    assert names(tools.describe_table("mine"), "columns") == ["one", "letter"]


def test_modules(tools: TraceTools) -> None:
    """Modules are found by pattern, and by a word in what they have."""
    found: Any = tools.list_modules("android.startup.*")
    assert "android.startup.startups" in names(found, "modules", "module")
    by_word = names(tools.list_modules("monitor_contention"), "modules", "module")
    assert by_word == ["android.monitor_contention"]
    module: Any = tools.describe_module("android.monitor_contention")
    contention = next(entry for entry in module["has"] if entry["name"] == "android_monitor_contention")
    assert "blocking_method" in names(contention, "columns")


def test_included_module_can_be_queried(tools: TraceTools) -> None:
    """What describe_table says to include is there afterwards."""
    include = str(tools.describe_table("android_monitor_contention")["include"])
    answer: Any = tools.run_sql(f"{include} SELECT COUNT() AS waits FROM android_monitor_contention")
    assert answer == {"columns": ["waits"], "rows": [{"waits": 2}], "row_count": 1}


def test_rows(tools: TraceTools) -> None:
    """Rows are objects; repeated names are numbered; more rows than wanted are counted."""
    answer: Any = tools.run_sql("SELECT 1 AS x, 2 AS x UNION ALL SELECT 3, 4", most_rows=1)
    assert answer == {"columns": ["x", "x:1"], "rows": [{"x": 1, "x:1": 2}], "row_count": 2}


def test_answers_stay_readable(tools: TraceTools) -> None:
    """Of very long rows fewer come than were asked for."""
    sql = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 500) "
        "SELECT printf('%.*c', 3000, 'x') FROM n"
    )
    answer: Any = tools.run_sql(sql, most_rows=500)
    assert (len(answer["rows"]), answer["row_count"]) == (66, 500)


def test_endless_rows(tools: TraceTools) -> None:
    """Rows that were not counted to the end are said to be more."""
    sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    answer: Any = tools.run_sql(sql, most_rows=2, deadline_s=0.5)
    assert [row["x"] for row in answer["rows"]] == [1, 2]
    assert answer["row_count"] == "more than 2: they were not counted to the end"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda tools: tools.run_sql("SELECT 1", trace="other"), "choose one of wait.pftrace, empty.pftrace"),
        (lambda tools: tools.run_sql("SELEC 1"), "syntax error"),
        (lambda tools: tools.describe_table("nonsense"), "no table 'nonsense'"),
        (lambda tools: tools.describe_table("x'); DROP TABLE slice; --"), "no table"),
        (lambda tools: tools.describe_module("nonsense"), "no documented module"),
        (lambda tools: tools.finding_sql("nonsense"), "deadlock-cycle"),
        (lambda tools: tools.list_findings(kind="nonsense"), "choose one of deadlock-cycle"),
        (lambda tools: tools.list_findings(min_severity="worst"), "choose low, medium or high"),
    ],
)
def test_errors_name_the_way_out(tools: TraceTools, call: Any, words: str) -> None:
    """Each error tells the model what it can do instead."""
    with pytest.raises((QueryError, TraceError)) as caught:
        call(tools)
    assert words in str(caught.value)


def test_traces_must_be_there(tmp_path: Path) -> None:
    """A trace that does not exist is said at the start, not at the first question."""
    with pytest.raises(TraceError, match="no such file"):
        TraceTools([tmp_path / "none.pftrace"])
    with pytest.raises(EngineError, match="unjank mcp TRACE"):
        TraceTools([])
