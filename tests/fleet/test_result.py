"""A result as pyarrow, pandas and polars; while it is being made and of others."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.fleet.small_traces import SLICES

from unjank import QueryError, UnjankError
from unjank.fleet import FleetResult, open_fleet, run_fleet

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")


@pytest.fixture
def result(folder: Path, tmp_path: Path) -> FleetResult:
    """Six traces' slices."""
    return run_fleet(folder, SLICES, tmp_path / "out", workers=1)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames(result: FleetResult, package: str) -> None:
    """As pandas and as polars the result has the same columns and rows.

    Both are in a folder of their own: perfetto imports them where it can, and every program of the other
    tests would start later.
    """
    frames = Path(sys.prefix) / "frames"
    if not frames.is_dir():
        pytest.skip(f"pandas and polars are not in {frames} (no wheels for this Python)")
    program = (
        "import json, sys; from unjank.fleet import open_fleet\n"
        f"frame = open_fleet({result.place!r}).{package}()\n"
        f"assert type(frame).__module__.partition('.')[0] == {package!r}\n"
        "print(json.dumps([list(frame.columns), [int(value) for value in frame['dur']]]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.fspath(frames)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [result.arrow().schema.names, [1_000_000] * 15]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_that_are_not_installed(
    result: FleetResult, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package the error says what to install."""
    monkeypatch.setitem(sys.modules, package, None)
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


def test_run_that_was_killed_early(folder: Path, tmp_path: Path) -> None:
    """A result without any part yet has a trace's columns, no rows, and says what its end would have made."""
    pytest.importorskip("duckdb", reason="duckdb is not installed (no wheel for this Python)")
    run_fleet(folder, SLICES, tmp_path / "out")
    for path in [*(tmp_path / "out" / "results").iterdir(), tmp_path / "out" / "traces.parquet"]:
        path.unlink()
    killed = open_fleet(tmp_path / "out")
    assert killed.arrow().schema.names[0] == "trace"
    assert killed.aggregate("SELECT COUNT(trace) AS n FROM results").arrow().to_pylist() == [{"n": 0}]
    with pytest.raises(UnjankError, match=r"the run did not end.*--resume"):
        killed.traces()
    with pytest.raises(QueryError, match=r"the run did not end.*--resume"):
        killed.aggregate("SELECT * FROM traces")


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
