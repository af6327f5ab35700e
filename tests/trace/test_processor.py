"""`TraceProcessor` behaves as perfetto's, on the engine in this process."""

from io import BytesIO
from pathlib import Path

import pytest
from perfetto.trace_processor.api import (
    SqlPackage,
    TraceProcessorConfig,
    TraceProcessorException,
)
from perfetto.trace_uri_resolver.path import PathUriResolver
from perfetto.trace_uri_resolver.registry import ResolverRegistry
from perfetto.trace_uri_resolver.resolver import TraceUriResolver

from unjank import EngineError, QueryError, TraceError, TraceProcessor
from unjank.trace import EngineUnavailableError, query

_SLICES = "SELECT COUNT(*) AS n FROM slice"


class NarrowTraceProcessor(TraceProcessor):
    """With a 32-bit engine that soon runs out of memory."""

    _narrow_heap_limit = 34 << 20


@pytest.mark.parametrize(
    ("name", "slices"),
    [
        ("android_startup_warm_api32.perfetto-trace", 9887),
        ("android_atrace_headerless.txt", 631),
        ("art_method_streaming.trace.gz", 19885),
        ("art_method_regular.trace.gz", 6777),
        ("chrome_page_loads.pftrace", 25192),
        ("chrome_simple.json", 18),
        ("chrome_simple.zip", 16),
        ("python_viztracer_multithread.json", 404),
    ],
)
@pytest.mark.parametrize("engine", ["wasm", "wasm64"])
def test_loads_every_format(traces_dir: Path, name: str, slices: int, engine: str) -> None:
    """Each format gives the number of slices it holds, in both modules."""
    with TraceProcessor(traces_dir / name, engine=engine) as tp:  # type: ignore[arg-type]  # from a list
        assert tp.rows(_SLICES) == [{"n": slices}]
        assert tp.engine == engine


@pytest.mark.parametrize(
    ("name", "rows"),
    [("android_systrace_surfaceflinger.html", 715), ("android_jank_cpu_sampling.pftrace", 24698)],
)
def test_scheduling_is_read(traces_dir: Path, name: str, rows: int) -> None:
    """Traces of the kernel's scheduling fill the table `sched`."""
    with TraceProcessor(traces_dir / name) as tp:
        assert tp.rows("SELECT COUNT(*) AS n FROM sched") == [{"n": rows}]


def test_ways_to_give_a_trace(api32_trace: Path) -> None:
    """Path, text, open file, bytes, and pieces of bytes are the same trace."""
    data = api32_trace.read_bytes()
    pieces = (data[start : start + 70_000] for start in range(0, len(data), 70_000))
    for trace in (api32_trace, str(api32_trace), BytesIO(data), data, pieces):
        with TraceProcessor(trace) as tp:
            assert tp.rows(_SLICES) == [{"n": 9887}]


def test_colon_in_a_path(tmp_path: Path, traces_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose name looks like perfetto's URI is a file."""
    (tmp_path / "run:12.json").write_bytes((traces_dir / "chrome_simple.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    with TraceProcessor("run:12.json") as tp:
        assert tp.rows(_SLICES) == [{"n": 18}]
        assert tp.metadata == {"_path": "run:12.json"}


def test_uri_and_resolver(api32_trace: Path) -> None:
    """Perfetto's resolvers find traces for this class too, and their metadata is kept."""

    class Shelf(TraceUriResolver):  # type: ignore[misc,unused-ignore]
        PREFIX = "shelf"

        def __init__(self, book: str) -> None:
            self.book = book

        def resolve(self) -> list[TraceUriResolver.Result]:
            return [TraceUriResolver.Result(trace=str(api32_trace), metadata={"book": self.book})]

    config = TraceProcessorConfig(resolver_registry=ResolverRegistry(resolvers=[PathUriResolver, Shelf]))
    for trace in ("shelf:book=red", Shelf(book="red")):
        with TraceProcessor(trace, config=config) as tp:
            assert tp.rows(_SLICES) == [{"n": 9887}]
            assert tp.metadata["book"] == "red"


def test_message_queue_sums(api32_trace: Path) -> None:
    """The message queue's contention sums are 399, 251 and 46 microseconds, rounded."""
    sql = """
    INCLUDE PERFETTO MODULE android.monitor_contention;
    SELECT CAST(ROUND(SUM(dur) / 1e3) AS INT) AS us FROM android_monitor_contention
    WHERE is_blocked_thread_main AND short_blocked_method LIKE '%MessageQueue%'
    GROUP BY upid ORDER BY us DESC
    """
    with TraceProcessor(api32_trace) as tp:
        assert [row["us"] for row in tp.rows(sql)] == [399, 251, 46]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "messagequeue_jank",
            [{"process_name": "com.android.systemui", "sum_dur_ms": 0, "count_contention": 4}],
        ),
        ("messagequeue_startup", []),
    ],
)
@pytest.mark.parametrize("engine", ["wasm", "wasm64"])
def test_published_queries(
    queries_dir: Path, api32_trace: Path, name: str, expected: list[object], engine: str
) -> None:
    """The two published queries run word for word."""
    sql = (queries_dir / f"{name}.sql").read_text()
    with TraceProcessor(api32_trace, engine=engine) as tp:  # type: ignore[arg-type]  # from a list
        assert query(tp, sql) == expected


def test_errors_are_perfettos_exceptions_too(api32_trace: Path, traces_dir: Path) -> None:
    """Code that catches perfetto's exception and code that catches unjank's both see each error."""
    with pytest.raises(TraceProcessorException, match="bad_unknown_type") as of_loading:
        TraceProcessor(traces_dir / "bad_unknown_type.txt")
    assert isinstance(of_loading.value, TraceError)
    with TraceProcessor(api32_trace) as tp:
        with pytest.raises(TraceProcessorException, match="line 1, column 8: no such column: foo") as of_sql:
            tp.query("SELECT foo FROM slice")
        assert isinstance(of_sql.value, QueryError)


def test_other_calls_of_perfettos_api(api32_trace: Path) -> None:
    """Metrics, trace summary and metatrace work without a shell as well."""
    spec = """
    metric_spec {
      id: "slices" dimensions: "name" value: "dur"
      query { table { table_name: "slice" } group_by { column_names: "name"
        aggregates { column_name: "dur" op: SUM result_column_name: "dur" } } }
    }
    """
    with TraceProcessor(api32_trace) as tp:
        tp.enable_metatrace()
        assert tp.metric(["trace_metadata"]).trace_metadata.trace_size_bytes > 0
        summary = tp.trace_summary([spec], metric_ids=["slices"])
        assert len(summary.metric_bundles[0].row) > 10
        assert len(tp.disable_and_read_metatrace()) > 0
        with pytest.raises(QueryError, match="no_such_metric"):
            tp.metric(["no_such_metric"])


def test_export_is_refused_with_the_way_out(tmp_path: Path, api32_trace: Path) -> None:
    """What needs files of the engine's own says which engine has them."""
    with TraceProcessor(api32_trace) as tp, pytest.raises(EngineError, match="engine='shell'"):
        tp.export(str(tmp_path / "x"), "sqlite")


def test_packages_of_the_users_own(tmp_path: Path) -> None:
    """A folder of SQL is a package under its own name, or under a given one."""
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    (tmp_path / "mine" / "deep" / "two.sql").write_text("CREATE PERFETTO TABLE two AS SELECT 2 AS x;")
    for package, name in (
        (str(tmp_path / "mine"), "mine"),
        (SqlPackage(str(tmp_path / "mine"), "ours"), "ours"),
    ):
        with TraceProcessor(config=TraceProcessorConfig(add_sql_packages=[package])) as tp:
            assert tp.rows(f"INCLUDE PERFETTO MODULE {name}.deep.two; SELECT x FROM two") == [{"x": 2}]


def test_package_without_sql(tmp_path: Path) -> None:
    """A folder with no SQL in it is an error that names it."""
    with pytest.raises(EngineUnavailableError, match="there is no"):
        TraceProcessor(config=TraceProcessorConfig(add_sql_packages=[str(tmp_path)]))


def test_raw_ftrace_is_read_when_asked(api32_trace: Path) -> None:
    """`ingest_ftrace_in_raw` keeps all 60,598 events raw; otherwise only those that no other table has."""
    for raw, events in ((False, 828), (True, 60598)):
        with TraceProcessor(api32_trace, config=TraceProcessorConfig(ingest_ftrace_in_raw=raw)) as tp:
            assert tp.rows("SELECT COUNT(*) AS n FROM ftrace_event") == [{"n": events}]


def test_options_of_the_shell_are_not_ignored() -> None:
    """An option that only a shell knows is an error, not silence."""
    for options in (
        {"extra_flags": ["--x"]},
        {"enable_dev_features": True},
        {"enable_sql_file_access": True},
    ):
        with pytest.raises(
            EngineUnavailableError, match=f"option {next(iter(options))} is for trace_processor_shell"
        ):
            TraceProcessor(config=TraceProcessorConfig(**options))


def test_unknown_engine() -> None:
    """A misspelt engine is answered with the choice."""
    with pytest.raises(EngineUnavailableError, match="choose one of wasm, wasm64, shell"):
        TraceProcessor(engine="wasm32")  # type: ignore[arg-type]  # on purpose


def test_wide_memory_when_narrow_is_full(traces_dir: Path) -> None:
    """A trace that does not fit is loaded again with 64-bit memory, by itself, if it can be read again."""
    path = traces_dir / "android_jank_cpu_sampling.pftrace"
    with NarrowTraceProcessor(path) as tp:
        assert tp.engine == "wasm64"
        assert tp.rows("SELECT COUNT(*) AS n FROM sched") == [{"n": 24698}]
    with pytest.raises(TraceError, match="second time; give its path"):
        NarrowTraceProcessor(iter([path.read_bytes()]))


def test_query_that_needs_more_memory(traces_dir: Path) -> None:
    """A query that fills the memory fails with the way out; an engine that died of it says so."""
    numbers = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000000) SELECT x FROM c"
    )
    with NarrowTraceProcessor(traces_dir / "chrome_simple.json") as tp:
        with pytest.raises(QueryError, match="out of memory; open the trace with engine 'wasm64'"):
            tp.query(f"SELECT length(group_concat(x, 'some filling')) FROM ({numbers})")
        assert tp.rows(_SLICES) == [{"n": 18}]
        with pytest.raises(TraceError, match=r"chrome_simple\.json: out of memory"):
            tp.query(f"CREATE PERFETTO TABLE t AS {numbers}")
        with pytest.raises(TraceError, match=r"chrome_simple\.json: the engine died earlier"):
            tp.rows(_SLICES)


def test_query_that_makes_the_engine_abort(traces_dir: Path) -> None:
    """SQL that exhausts the engine's stack costs this object; the message names the trace, not its format."""
    tables = ", ".join(f"t{n} AS (SELECT * FROM t{n - 1})" for n in range(1, 3000))
    with TraceProcessor(traces_dir / "chrome_simple.json") as tp:
        with pytest.raises(TraceError, match=r"chrome_simple\.json: the engine aborted$"):
            tp.query(f"WITH t0 AS (SELECT 1), {tables} SELECT * FROM t2999")
        with pytest.raises(TraceError, match="died earlier"):
            tp.query("SELECT 1")


def test_closed(api32_trace: Path) -> None:
    """A closed object says that it is closed, and can be closed again."""
    tp = TraceProcessor(api32_trace)
    tp.close()
    tp.close()
    with pytest.raises(EngineUnavailableError, match="is closed; open the trace again"):
        tp.query(_SLICES)


def test_lost_data_is_noted(traces_dir: Path) -> None:
    """What the trace says about lost data is told, with its number."""
    with TraceProcessor(traces_dir / "chrome_page_loads.pftrace") as tp:
        assert "data lost: misplaced_end_event = 12" in tp.notes
    with TraceProcessor(traces_dir / "android_startup_warm_api32.perfetto-trace") as tp:
        assert tp.notes == []
