"""DuckDB over a result: it sees that and nothing else."""

from pathlib import Path

import pytest
from tests.fleet.small_traces import SLICES

from unjank import QueryError
from unjank.fleet import FleetResult, run_fleet

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")
pytest.importorskip("duckdb", reason="duckdb is not installed (no wheel for this Python)")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> FleetResult:
    """Four traces' slices, and one trace that is none."""
    from tests.fleet.small_traces import write_traces

    folder = tmp_path_factory.mktemp("aggregate")
    write_traces(folder / "traces", 4)
    (folder / "traces" / "bad").write_bytes(b"no trace")
    return run_fleet(folder / "traces", SLICES, folder / "out", workers=1)


def test_over_all_traces(result: FleetResult) -> None:
    """Rows of all traces are one table, beside the tables of errors and traces."""
    rows = result.aggregate("SELECT name, COUNT(*) AS n FROM results GROUP BY name ORDER BY name").arrow()
    assert rows.to_pylist() == [{"name": f"slice {i}", "n": 3 - i} for i in range(3)]
    (row,) = result.aggregate("SELECT stage, cause FROM errors").arrow().to_pylist()
    assert row == {"stage": "load", "cause": "is not a trace of any format the engine knows"}
    (row,) = result.aggregate("SELECT COUNT(*) AS n FROM traces WHERE status = 'ok'").arrow().to_pylist()
    assert row == {"n": 4}


def test_sums_are_plain_integers(result: FleetResult) -> None:
    """A sum of integers is an integer of 64 bits, unless it needs more."""
    table = result.aggregate("SELECT SUM(dur) AS ns, SUM(9223372036854775807) AS huge FROM results").arrow()
    assert table.to_pylist() == [{"ns": 6_000_000, "huge": 6 * (2**63 - 1)}]
    assert str(table.schema.field("ns").type) == "int64"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_parquet('{parquet}')",
        "SELECT * FROM glob('/etc/*')",
        "COPY results TO '{target}'",
        "ATTACH '{target}' AS other",
        "EXPORT DATABASE '{target}'",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT getenv('HOME')",
        "SELECT * FROM dataset",
        "SELECT nope FROM results",
    ],
)
def test_nothing_else_can_be_reached(result: FleetResult, tmp_path: Path, sql: str) -> None:
    """No file is read or written, no setting changed, no variable of the program seen."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    target = tmp_path / "target"
    parquet = next((Path(result.place) / "results").iterdir())
    with pytest.raises(QueryError, match="--aggregate: ") as caught:
        result.aggregate(sql.format(file=secret, target=target, parquet=parquet))
    assert "\n" not in str(caught.value)
    assert not target.exists()


def test_rows_are_bounded(result: FleetResult) -> None:
    """More rows than allowed are an error, however many would follow."""
    with pytest.raises(QueryError, match="more than 10 rows"):
        result.aggregate("SELECT * FROM range(1000000000)", rows=10)


def test_time_is_bounded(result: FleetResult) -> None:
    """An aggregate that takes too long is ended."""
    with pytest.raises(QueryError, match=r"took longer than 0\.2 s"):
        result.aggregate("SELECT SUM(a.range * b.range) FROM range(1000000) a, range(1000000) b", seconds=0.2)


def test_statement_without_rows(result: FleetResult) -> None:
    """A statement that has no result gives an empty table; it lives as long as the one call."""
    assert len(result.aggregate("CREATE TABLE mine AS SELECT 1 AS x")) in (0, 1)
    with pytest.raises(QueryError, match="mine"):
        result.aggregate("SELECT * FROM mine")
