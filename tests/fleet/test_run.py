"""From traces to a result on this machine."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace as PerfettoTrace
from tests.fleet.small_traces import COUNT_OR_SPIN, ENDLESS, SLICES, trace_bytes

from unjank import QueryError, UnjankError
from unjank.fleet import FleetResult, Limits, Progress, Trace, open_fleet, run_fleet
from unjank.fleet._part import Entry

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")

_FINE = [("t00", 0), ("t01", 1), ("t02", 2), ("t03", 3), ("t04", 4), ("t05", 5)]


def _counts(result: FleetResult) -> list[tuple[str, int]]:
    """Of each trace its stem and the number of its rows, sorted."""
    table = result.traces().arrow().to_pylist()
    return sorted((Path(row["trace"]).stem, row["rows"]) for row in table if row["status"] == "ok")


def _errors(result: FleetResult) -> dict[str, tuple[str, str]]:
    """Of each failed trace its name, with stage and cause."""
    return {
        Path(row["trace"]).name: (row["stage"], row["cause"]) for row in result.errors().arrow().to_pylist()
    }


def _sorted_rows(result: FleetResult) -> list[str]:
    return sorted(map(repr, result.arrow().to_pylist()))


class _OnDone:
    """Calls something when a number of traces are done."""

    def __init__(self, count: int, action: Callable[[], None]) -> None:
        self._left, self._action = count, action

    @contextmanager
    def __call__(self, total: int) -> Iterator[Progress]:
        yield self

    def done(self, entry: Entry) -> None:
        self._left -= 1
        if self._left == 0:
            self._action()

    def say(self, text: str) -> None:
        """Nothing to do."""


def test_sql_over_a_folder(folder: Path) -> None:
    """Each row has its trace's name and metadata; a trace without rows is in the table of traces."""
    result = run_fleet(folder, SLICES, workers=2)
    assert _counts(result) == _FINE
    assert result.totals is not None
    assert (result.totals.traces, result.totals.rows, result.totals.failed) == (6, 15, 0)
    (row,) = [row for row in result.arrow().to_pylist() if "t01" in row["trace"]]
    assert row["trace"] == str(folder / "t01.pftrace")
    assert (row["name"], row["dur"], row["trace_type"], row["trace_build"]) == (
        "slice 0",
        1_000_000,
        "proto",
        None,
    )


def test_findings_are_those_of_report(api32_trace: Path) -> None:
    """Without SQL the rows are the findings, as `find_all` gives them."""
    from unjank import TraceProcessor
    from unjank.findings import find_all

    rows = run_fleet(api32_trace).arrow().to_pylist()
    with TraceProcessor(api32_trace) as tp:
        expected = find_all(tp).findings
    assert [(row["kind"], row["severity"], row["dur_ns"], row["advice"]) for row in rows] == [
        (finding.kind, finding.severity.value, finding.dur_ns, finding.advice) for finding in expected
    ]
    assert rows[0]["trace_build"].startswith("google/bluejay")


def test_metadata_given_with_a_trace(folder: Path) -> None:
    """What the caller knows of a trace becomes columns, and wins over what the trace says."""
    trace = Trace(str(folder / "t01.pftrace"), {"device": "desk", "type": "mine"})
    (row,) = run_fleet([trace, str(folder / "t00.pftrace")], SLICES).arrow().to_pylist()
    assert (row["trace_device"], row["trace_type"]) == ("desk", "mine")


def test_metadata_that_is_no_text() -> None:
    """A fact that is a number is refused where it is given, not where it is written."""
    with pytest.raises(UnjankError, match=r"a\.pftrace: metadata 'sdk' is 33; .* text"):
        Trace("a.pftrace", {"sdk": 33})  # type: ignore[dict-item]  # the mistake


def test_build_that_could_not_be_read(folder: Path) -> None:
    """Where the recorder was given Android's message on long properties, the build is not known."""
    trace = PerfettoTrace.FromString(trace_bytes(["a"]))
    info = trace.packet.add(trusted_packet_sequence_id=1).system_info
    info.android_build_fingerprint = "Must use __system_property_read_callback() to read"
    info.android_sdk_version = 33
    (folder / "long.pftrace").write_bytes(trace.SerializeToString())
    (row,) = run_fleet(folder / "long.pftrace", SLICES).arrow().to_pylist()
    assert (row["trace_build"], row["trace_sdk"]) == (None, "33")


def test_bad_traces_become_errors(folder: Path, traces_dir: Path) -> None:
    """Missing, cut off, unknown, engine-aborting: each is named with its cause; the others have rows."""
    (folder / "cut.pftrace").write_bytes(trace_bytes(["a", "b"])[:-2])
    (folder / "empty.pftrace").write_bytes(b"")
    bad = [
        traces_dir / "bad_gecko_aborts_engine.json",
        traces_dir / "bad_unknown_type.txt",
        folder / "missing",
    ]
    result = run_fleet([folder, *bad], SLICES, workers=2)
    assert _counts(result) == _FINE
    errors = _errors(result)
    assert {name: stage for name, (stage, _) in errors.items()} == dict.fromkeys(
        ["cut.pftrace", "empty.pftrace", "missing", bad[0].name, bad[1].name], "load"
    )
    assert errors["cut.pftrace"][1].startswith("the trace is cut off in the middle of a packet")
    assert errors["missing"][1] == "no such file"
    assert errors[bad[0].name][1].startswith("the engine aborted")


def test_incomplete_traces_on_request(folder: Path) -> None:
    """What is left of a trace that is cut off counts where that is asked for, with a note."""
    (folder / "cut.pftrace").write_bytes(trace_bytes(["a", "b"])[:-2])
    result = run_fleet(folder / "cut.pftrace", SLICES, accept_incomplete=True)
    (row,) = result.traces().arrow().to_pylist()
    assert row["rows"] == 2
    assert "cut off" in row["notes"]


def test_endless_query(folder: Path) -> None:
    """A trace on which the query never ends is an error after its time; the others have rows."""
    (folder / "t03x.pftrace").write_bytes(trace_bytes([ENDLESS]))
    result = run_fleet(folder, COUNT_OR_SPIN, workers=1, limits=Limits(seconds=3))
    assert [stem for stem, _ in _counts(result)] == [stem for stem, _ in _FINE]
    assert _errors(result) == {"t03x.pftrace": ("query", "took longer than 3 s; raise --timeout")}


def test_memory_of_the_engine(folder: Path, traces_dir: Path) -> None:
    """A trace that needs more memory than it may is an error."""
    big = traces_dir / "android_jank_cpu_sampling.pftrace"
    result = run_fleet([folder, big], SLICES, workers=1, limits=Limits(memory_bytes=36 << 20))
    assert _errors(result) == {big.name: ("load", "out of memory: it needs more than 36 MiB; raise --memory")}
    assert _counts(result) == _FINE


@pytest.mark.parametrize(
    ("limits", "fitting", "cause"),
    [
        (Limits(rows=3), 4, "more than 3 rows; raise --max-rows, or aggregate in SQL"),
        (Limits(result_bytes=70), 5, "a result of more than 0 MiB; raise --max-result, or select less"),
    ],
    ids=["rows", "bytes"],
)
def test_result_is_bounded(folder: Path, limits: Limits, fitting: int, cause: str) -> None:
    """A result that is too large is an error rather than a part of the rows."""
    result = run_fleet(folder, SLICES, workers=1, limits=limits)
    assert set(_errors(result).values()) == {("query", cause)}
    assert _counts(result) == _FINE[:fitting]


def test_wrong_sql_fails_at_once(folder: Path, tmp_path: Path) -> None:
    """SQL that can't work on any trace is one error, before the first trace."""
    with pytest.raises(QueryError, match=r"no such column: nope \(asked a trace without events\)"):
        run_fleet(folder, "SELECT nope FROM slice", tmp_path / "out")
    assert not (tmp_path / "out" / "results").exists()


def test_sql_can_not_reach_files(folder: Path, tmp_path: Path) -> None:
    """The engine refuses to attach a file of this machine."""
    target = tmp_path / "stolen.db"
    with pytest.raises(QueryError, match="unable to open database"):
        run_fleet(folder, f"ATTACH DATABASE '{target}' AS stolen")
    assert not target.exists()


def test_types_differ_from_trace_to_trace(folder: Path, tmp_path: Path) -> None:
    """All files end with the same columns: NULL, integer, float and text become text, exactly."""
    sql = """
    SELECT CASE (SELECT COUNT(*) FROM slice)
      WHEN 1 THEN 7 WHEN 2 THEN 7.0 WHEN 3 THEN 'x' WHEN 4 THEN 0.5
    END AS v
    """
    run_fleet(folder, sql, tmp_path / "out", workers=1)
    parquet = pytest.importorskip("pyarrow.parquet")
    schemas = {parquet.read_schema(path).remove_metadata() for path in (tmp_path / "out/results").iterdir()}
    assert len(schemas) == 1
    rows = parquet.read_table(tmp_path / "out" / "results").sort_by("trace").to_pylist()
    assert [row["v"] for row in rows] == [None, "7", "7", "x", "0.5", None]


def test_statement_without_rows(folder: Path) -> None:
    """SQL that has no result gives traces without rows, not errors."""
    result = run_fleet(folder, "CREATE PERFETTO TABLE mine AS SELECT 1 AS x", workers=1)
    assert _counts(result) == [(stem, 0) for stem, _ in _FINE]
    assert len(result.rows()) == 0


def test_folder_with_a_result_is_kept(folder: Path, tmp_path: Path) -> None:
    """A result is not written over; one of other SQL is not mixed in; files of others are left alone."""
    run_fleet(folder, SLICES, tmp_path / "out")
    with pytest.raises(UnjankError, match="go on with --resume, or choose another folder"):
        run_fleet(folder, SLICES, tmp_path / "out")
    with pytest.raises(UnjankError, match="holds the result of other SQL"):
        run_fleet(folder, "SELECT 1 AS x", tmp_path / "out", resume=True)
    (tmp_path / "other" / "results").mkdir(parents=True)
    (tmp_path / "other" / "results" / "mine.parquet").write_bytes(b"mine")
    with pytest.raises(UnjankError, match="holds other files"):
        run_fleet(folder, SLICES, tmp_path / "other", resume=True)


def test_resume_asks_only_what_is_new(folder: Path, tmp_path: Path) -> None:
    """Traces that are done are not opened again; new ones are added."""
    run_fleet(folder, SLICES, tmp_path / "out")
    before = {path.name: path.stat().st_ino for path in (tmp_path / "out" / "results").iterdir()}
    for path in folder.iterdir():
        path.write_bytes(b"changed")
    (folder / "t06.pftrace").write_bytes(trace_bytes(["new"]))
    result = run_fleet(folder, SLICES, tmp_path / "out", resume=True)
    assert _counts(result) == [*_FINE, ("t06", 1)]
    after = {path.name: path.stat().st_ino for path in (tmp_path / "out" / "results").iterdir()}
    assert {name: after[name] for name in before} == before


def test_failed_traces_again(folder: Path, tmp_path: Path) -> None:
    """Failed traces stay failed when resuming, unless they are to be tried again; then each is there once."""
    bad = folder / "t06.pftrace"
    bad.write_bytes(b"no trace")
    run_fleet(folder, SLICES, tmp_path / "out", workers=1)
    bad.write_bytes(trace_bytes(["whole"]))
    assert list(_errors(run_fleet(folder, SLICES, tmp_path / "out", resume=True))) == ["t06.pftrace"]
    result = run_fleet(folder, SLICES, tmp_path / "out", resume=True, retry_failed=True)
    assert _errors(result) == {}
    assert _counts(result) == [*_FINE, ("t06", 1)]
    assert len(result.rows()) == 16
    assert len(result.traces()) == 7


def test_interrupted_run_is_readable_and_goes_on(folder: Path, tmp_path: Path) -> None:
    """Ctrl-C commits what is done and leaves all tables; going on gives the rows of a run undisturbed."""
    (folder / "t03x.pftrace").write_bytes(trace_bytes([ENDLESS]))
    main = threading.main_thread().ident
    assert main is not None
    interrupt = _OnDone(4, lambda: signal.pthread_kill(main, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run_fleet(folder, COUNT_OR_SPIN, tmp_path / "out", workers=1, show_progress=interrupt)
    half = open_fleet(tmp_path / "out")
    assert [stem for stem, _ in _counts(half)] == ["t00", "t01", "t02", "t03"]
    assert len(half.errors()) == 0
    (folder / "t03x.pftrace").unlink()
    whole = run_fleet(folder, COUNT_OR_SPIN, tmp_path / "out", resume=True)
    undisturbed = run_fleet(folder, COUNT_OR_SPIN, workers=2)
    assert _sorted_rows(whole) == _sorted_rows(undisturbed)


def test_error_of_ours_stops_the_run(folder: Path, tmp_path: Path) -> None:
    """What is not a trace's error, such as an output that can't be written, ends the run and is raised."""

    def fail() -> None:
        raise UnjankError("no space")

    with pytest.raises(UnjankError, match="no space"):
        run_fleet(folder, SLICES, tmp_path / "out", show_progress=_OnDone(2, fail))


def test_result_inside_the_folder_of_traces(folder: Path) -> None:
    """The result's own files are not taken for traces."""
    run_fleet(folder, SLICES, folder / "out")
    assert _counts(run_fleet(folder, SLICES, folder / "out", resume=True)) == _FINE


def test_one_run_at_a_time(folder: Path, tmp_path: Path) -> None:
    """A second run into the same folder is refused while the first works."""
    told: list[str] = []

    def second() -> None:
        try:
            run_fleet(folder, SLICES, tmp_path / "out", resume=True)
        except UnjankError as error:
            told.append(str(error))

    run_fleet(folder, SLICES, tmp_path / "out", workers=1, show_progress=_OnDone(1, second))
    assert told == [f"{tmp_path}/out: another run writes there; wait for it"]


def test_remote_traces_and_remote_result(folder: Path) -> None:
    """Traces and result may lie where fsspec reaches; rows are those of local files."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    memory = fsspec.filesystem("memory")
    here = run_fleet(folder, SLICES)
    remote = run_fleet(f"file://{folder}/", SLICES, "memory://fleet-test/out")
    try:
        assert _counts(remote) == _counts(here)
        assert remote.place == "memory://fleet-test/out"
        names = {row["trace"].removeprefix("file://") for row in remote.arrow().to_pylist()}
        assert names == {row["trace"] for row in here.arrow().to_pylist()}
    finally:
        memory.rm("/fleet-test", recursive=True)


def test_remote_trace_that_is_missing(folder: Path) -> None:
    """What can't be fetched is an error of stage fetch."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    result = run_fleet([str(folder), f"file://{folder}/none"], SLICES, workers=1)
    assert _errors(result)["none"][0] == "fetch"
    assert "FileNotFoundError" in _errors(result)["none"][1]
    assert _counts(result) == _FINE


def test_file_name_that_is_not_text(folder: Path) -> None:
    """A file name that is not UTF-8 is read, and shown with U+FFFD."""
    name = os.fsencode(folder) + b"/t\xff.pftrace"
    Path(os.fsdecode(name)).write_bytes(trace_bytes(["odd"]))
    (row,) = run_fleet(os.fsdecode(name), SLICES).arrow().to_pylist()
    assert row["trace"].endswith("t\N{REPLACEMENT CHARACTER}.pftrace")


def test_shell_engine(folder: Path, tmp_path: Path) -> None:
    """A trace_processor_shell gives the same rows; one that dies under a trace costs that trace alone."""
    shell = tmp_path / "trace_processor_shell"
    fake = Path(__file__).parents[1] / "trace" / "fake_shell.py"
    shell.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake}" "$@"\n')
    shell.chmod(0o755)
    inside = run_fleet(folder, SLICES, workers=2)
    outside = run_fleet(folder, SLICES, workers=2, shell_path=shell)
    assert _sorted_rows(outside) == _sorted_rows(inside)
    (folder / "bad").write_bytes(b"no trace")
    (failed,) = run_fleet(folder, SLICES, workers=1, shell_path=shell).errors().arrow().to_pylist()
    assert failed["stage"] == "load"


def test_shell_that_does_not_start(folder: Path, tmp_path: Path) -> None:
    """What a shell says when it fails is one error, before the first trace."""
    shell = tmp_path / "broken"
    shell.write_text("#!/bin/sh\necho 'no such library'\nexit 1\n")
    shell.chmod(0o755)
    with pytest.raises(UnjankError, match=r"broken failed to start: no such library"):
        run_fleet(folder, SLICES, workers=1, shell_path=shell)


def test_more_workers_than_traces(folder: Path) -> None:
    """No more processes are started than there are traces; none at all is wrong usage."""
    assert _counts(run_fleet(folder / "t01.pftrace", SLICES, workers=1000)) == [("t01", 1)]
    with pytest.raises(UnjankError, match="0 workers can do nothing"):
        run_fleet(folder, SLICES, workers=0)


def test_workers_or_dask(folder: Path) -> None:
    """Processes here and a cluster at once are a contradiction."""
    with pytest.raises(UnjankError, match="give one of the two"):
        run_fleet(folder, SLICES, workers=2, dask="tcp://127.0.0.1:1")


def test_progress_is_told_each_trace(folder: Path) -> None:
    """Whoever watches hears of the number of traces, and of each once."""
    heard: list[str] = []

    class Watch(_OnDone):
        def done(self, entry: Entry) -> None:
            heard.append(Path(entry.trace).stem)

    def watch(total: int) -> AbstractContextManager[Progress]:
        heard.append(f"of {total}")
        return nullcontext(Watch(0, lambda: None))

    run_fleet(folder, SLICES, workers=2, show_progress=watch)
    assert heard[0] == "of 6"
    assert sorted(heard[1:]) == [stem for stem, _ in _FINE]
