"""The same on a Dask cluster, whatever happens to its workers and its network."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.dask_cluster import DaskCluster
from tests.fleet.small_traces import COUNT_OR_SPIN, ENDLESS, trace_bytes, write_traces

from unjank import UnjankError
from unjank.fleet import FleetResult, Limits, Progress, run_fleet
from unjank.fleet import _dask as dask
from unjank.fleet._part import Entry

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")
distributed = pytest.importorskip(
    "distributed", reason="distributed is not installed (no wheel for this Python)"
)

_TRACES = 24
_LIMITS = Limits(seconds=60, memory_bytes=1 << 30)
# So that the query takes a while and a disturbance meets some of them at work.
_SQL = """
WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 300000)
SELECT name, dur, (SELECT MAX(n) FROM count) AS n FROM slice
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of 0 to 23 slices, and one that is none."""
    folder = tmp_path_factory.mktemp("dask") / "traces"
    write_traces(folder, _TRACES)
    (folder / "bad").write_bytes(b"no trace")
    return folder


@pytest.fixture(scope="module")
def undisturbed(traces: Path) -> dict[str, bytes]:
    """What a run on this machine gives."""
    return _tables(run_fleet(traces, _SQL, limits=_LIMITS))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler and two workers."""
    with DaskCluster(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


class _Disturb:
    """Does something once a number of traces are done."""

    def __init__(self, count: int, action: Callable[[], object]) -> None:
        self._left, self._action = count, action
        self.said: list[str] = []

    @contextmanager
    def __call__(self, total: int) -> Iterator[Progress]:
        assert total == _TRACES + 1
        yield self

    def done(self, entry: Entry) -> None:
        self._left -= 1
        if self._left == 0:
            self._action()

    def say(self, text: str) -> None:
        self.said.append(text)


def _tables(result: FleetResult) -> dict[str, bytes]:
    """All tables as bytes, sorted by all their columns."""
    tables = {"rows": result.rows(), "errors": result.errors(), "traces": result.traces()}
    return {name: _sorted_bytes(table.arrow()) for name, table in tables.items()}


def _sorted_bytes(table: Any) -> bytes:
    ordered = table.sort_by([(name, "ascending") for name in table.schema.names]).combine_chunks()
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, ordered.schema) as stream:
        stream.write_table(ordered)
    return bytes(sink.getvalue())


def test_cluster_gives_what_one_machine_gives(
    cluster: DaskCluster, traces: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """Rows, errors and the table of traces are the same bytes."""
    result = run_fleet(traces, _SQL, tmp_path / "out", dask=cluster.address, limits=_LIMITS)
    assert result.totals is not None
    assert (result.totals.traces, result.totals.failed) == (_TRACES, 1)
    assert _tables(result) == undisturbed


def test_worker_is_killed(
    cluster: DaskCluster, traces: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """SIGKILL of a worker in the middle loses no row and doubles none."""
    disturb = _Disturb(3, cluster.kill_a_worker)
    result = run_fleet(
        traces, _SQL, tmp_path / "out", dask=cluster.address, limits=_LIMITS, show_progress=disturb
    )
    assert _tables(result) == undisturbed


def test_network_is_cut(
    cluster: DaskCluster, traces: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """The scheduler is out of everybody's reach for 5 s in the middle: no row lost, none doubled."""
    before = cluster.proxy.broken
    disturb = _Disturb(3, lambda: cluster.cut(5.0))
    result = run_fleet(
        traces, _SQL, tmp_path / "out", dask=cluster.address, limits=_LIMITS, show_progress=disturb
    )
    # Dask connects again by itself or, where it gives up first, the driver does, and says so.
    assert cluster.proxy.broken > before
    assert _tables(result) == undisturbed


def test_relative_paths(cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path means the driver's folder, wherever a worker was started; its name stays as given."""
    write_traces(tmp_path / "traces", 3)
    monkeypatch.chdir(tmp_path)
    result = run_fleet("traces", COUNT_OR_SPIN, "out", dask=cluster.address, limits=_LIMITS)
    rows = sorted((row["trace"], row["slices"]) for row in result.arrow().to_pylist())
    assert rows == [(f"traces/t0{number}.pftrace", number) for number in range(3)]


def test_trace_that_overruns_on_a_worker(cluster: DaskCluster, tmp_path: Path) -> None:
    """Limits hold on the workers: an endless query is one trace's error, and the Dask worker lives on."""
    traces = tmp_path / "traces"
    write_traces(traces, 2)
    (traces / "endless").write_bytes(trace_bytes([ENDLESS]))
    result = run_fleet(
        traces, COUNT_OR_SPIN, tmp_path / "out", dask=cluster.address, limits=Limits(seconds=3)
    )
    (row,) = result.errors().arrow().to_pylist()
    assert (row["stage"], row["cause"]) == ("query", "took longer than 3 s; raise --timeout")
    assert result.totals is not None
    assert result.totals.traces == 2


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "nonsense", "tcp://host"])
def test_address_that_is_none(traces: Path, tmp_path: Path, address: str) -> None:
    """An address of another kind is told at once, without a client, and before anything is written."""
    with pytest.raises(UnjankError, match=rf"{address}: is not an address of Dask's: .*tcp://HOST:8786"):
        run_fleet(traces, _SQL, tmp_path / "out", dask=address)
    assert not (tmp_path / "out").exists()


def test_no_scheduler(traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a scheduler the run ends after its patience, says so, can go on later, and made no client."""

    def never(*_: object, **_options: object) -> None:
        pytest.fail("a client without a scheduler outlives a Ctrl-C by 20 s")

    monkeypatch.setattr(distributed, "Client", never)
    monkeypatch.setattr(dask, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(UnjankError, match=r"127\.0\.0\.1:1: no Dask scheduler with workers there.*--resume"):
        run_fleet(traces, _SQL, tmp_path / "out", dask="tcp://127.0.0.1:1")
