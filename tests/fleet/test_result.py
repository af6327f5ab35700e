"""A result as pyarrow, pandas and polars; while it is being made and of others."""

import tempfile
from pathlib import Path

import pytest
from tests.fleet.small_traces import SLICES

from unjank import UnjankError
from unjank.fleet import FleetResult, open_fleet, run_fleet

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")


@pytest.fixture
def result(folder: Path, tmp_path: Path) -> FleetResult:
    """Six traces' slices."""
    return run_fleet(folder, SLICES, tmp_path / "out", workers=1)


def test_pandas(result: FleetResult) -> None:
    """A DataFrame with the same columns and rows."""
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = result.pandas()
    assert list(frame.columns) == result.arrow().schema.names
    assert frame["dur"].tolist() == [1_000_000] * 15


def test_polars(result: FleetResult) -> None:
    """A polars DataFrame with the same columns and rows."""
    pytest.importorskip("polars", reason="polars is not installed")
    frame = result.polars()
    assert frame.columns == result.arrow().schema.names
    assert frame["dur"].to_list() == [1_000_000] * 15


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_that_are_not_installed(
    result: FleetResult, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package the error says what to install."""
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(UnjankError, match=f"needs {package}, which is not installed: pip install {package}"):
        getattr(result, package)()


def test_plain_readers_see_one_table(result: FleetResult) -> None:
    """A program that knows nothing of unjank reads `results/*.parquet` as one table."""
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(Path(result.place) / "results").num_rows == 15
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (no wheel for this Python)")
    found = duckdb.sql(f"SELECT COUNT(*), COUNT(DISTINCT trace) FROM '{result.place}/results/*.parquet'")
    assert found.fetchall() == [(15, 5)]


def test_temporary_result_goes_with_its_object(folder: Path) -> None:
    """Without an output the folder is temporary, and removed when nobody has the result any more."""
    result = run_fleet(folder, SLICES, workers=1)
    place = Path(result.place)
    assert place.parent == Path(tempfile.gettempdir())
    assert place.stat().st_mode & 0o077 == 0
    del result
    assert not place.exists()


def test_no_result_there(tmp_path: Path) -> None:
    """A folder without a result is told from one with an empty one."""
    with pytest.raises(UnjankError, match="holds no result of unjank fleet"):
        open_fleet(tmp_path)


def test_file_of_somebody_else(result: FleetResult) -> None:
    """A file among the parts that unjank did not write is named, not read as rows."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": [1]}), Path(result.place) / "results" / "mine.parquet")
    with pytest.raises(UnjankError, match=r"results/mine\.parquet: is not a part of a fleet's result"):
        result.arrow()


def test_part_of_a_straggler_is_not_counted_twice(result: FleetResult, folder: Path) -> None:
    """A part that an unreachable worker of an earlier run still wrote doubles no row."""
    from unjank.fleet._dataset import Dataset
    from unjank.fleet._job import Job, Limits
    from unjank.fleet._storage import open_storage
    from unjank.fleet._supervisor import Supervisor
    from unjank.fleet._trace import Trace
    from unjank.fleet._work import work_on

    unit = tuple(Trace(str(folder / f"t0{number}.pftrace")) for number in (2, 4))
    with Supervisor(Job(SLICES, limits=Limits(memory_bytes=1 << 30))) as supervisor:
        work_on(unit, supervisor, open_storage(result.place), 1, lambda _entry: None)
    assert len(result.rows()) == 15 + 6
    totals = Dataset.open(open_storage(result.place)).finish()
    assert (totals.traces, totals.rows) == (6, 15)
    assert len(result.rows()) == 15
    assert len(result.traces()) == 6
