"""`unjank fleet`, as a user types it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fleet.small_traces import SLICES, trace_bytes, write_traces

from unjank.cli.fleet import _bytes, _split

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")

_UNJANK = Path(sys.executable).with_name("unjank")


def _run(*arguments: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [_UNJANK, "fleet", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with `traces/`: four traces, one file that is none."""
    write_traces(tmp_path / "traces", 4)
    (tmp_path / "traces" / "bad").write_bytes(b"no trace")
    return tmp_path


def test_run_and_go_on(project: Path) -> None:
    """Rows and errors go to the folder, one sentence to standard error; --resume adds what is new."""
    done = _run(SLICES, "traces", "-o", "out", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        f"unjank: 6 rows of 4 traces; 1 failed, see errors.parquet in {project}/out",
        "unjank: failed: traces/bad: is not a trace of any format the engine knows",
    ]
    again = _run(SLICES, "traces", "-o", "out", cwd=project)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    (project / "traces" / "new").write_bytes(trace_bytes(["x"]))
    resumed = _run(SLICES, "traces", "-o", "out", "--resume", cwd=project)
    assert "7 rows of 5 traces" in resumed.stderr


def test_a_few_of_many_errors_are_told(project: Path) -> None:
    """Three traces that failed are named with their cause, the others counted; names steer no terminal."""
    names = ["\x1bc", "away", "gone", "lost", "missing"]
    done = _run(SLICES, *names, "-o", "out", cwd=project)
    assert done.returncode == 0
    assert done.stderr.splitlines()[1:] == [
        *(f"unjank: failed: {name}: no such file" for name in ("\\x1bc", "away", "gone")),
        "unjank: failed: 2 more",
    ]


def test_aggregate(project: Path) -> None:
    """--aggregate prints its rows to standard output, after a run or of the result that is there."""
    pytest.importorskip("duckdb", reason="duckdb is not installed (no wheel for this Python)")
    sql = "SELECT name, COUNT(*) AS n FROM results GROUP BY name ORDER BY name"
    done = _run(SLICES, "traces/*.pftrace", "-o", "out", "--aggregate", sql, cwd=project)
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["name     n", "-------  -", "slice 0  3", "slice 1  2", "slice 2  1"]
    alone = _run("-o", "out", "--aggregate", sql, "--format", "csv", cwd=project)
    assert alone.stdout == "name,n\nslice 0,3\nslice 1,2\nslice 2,1\n"
    refused = _run("-o", "out", "--aggregate", "SELECT * FROM read_text('traces/bad')", cwd=project)
    assert refused.returncode == 2
    assert "unjank: --aggregate: Permission Error" in refused.stderr


def test_json(project: Path) -> None:
    """--json tells how it went, with every error."""
    done = _run(SLICES, "traces", "-o", "out", "--json", "-", cwd=project)
    told = json.loads(done.stdout)
    assert told["schema"] == "unjank.fleet/1"
    assert (told["traces"], told["rows"], told["failed"]) == (4, 6, 1)
    assert [(Path(error["trace"]).name, error["stage"]) for error in told["errors"]] == [("bad", "load")]


def test_threshold_on_errors(project: Path) -> None:
    """Failed traces are no failure of the command, unless there are more than the user allows."""
    assert _run(SLICES, "traces", "-o", "out", "--max-errors", "1", cwd=project).returncode == 0
    crossed = _run("traces", "-f", "-", "-o", "other", "--max-errors", "0", cwd=project)
    assert crossed.returncode == 2, crossed.stderr  # nothing on standard input is no SQL
    (project / "query.sql").write_text(SLICES)
    crossed = _run("traces", "-f", "query.sql", "-o", "third", "--max-errors", "0", cwd=project)
    assert crossed.returncode == 1, crossed.stderr
    assert "1 traces failed (--max-errors 0)" in crossed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["traces"], "-o DIR"),
        (["-o", "out"], "give traces"),
        (["SELECT nope FROM slice", "traces", "-o", "out"], "no such column: nope"),
        (["nothing/*", "-o", "out"], "no trace there"),
        (["traces", "-o", "out", "--memory", "much"], "'much' is not a size"),
        (["traces", "-o", "out", "--retry-failed"], "goes with --resume"),
        (["traces", "-o", "traces/bad", "--workers", "1"], "can't be written"),
        (
            ["traces", "-o", "nowhere://bucket"],
            "nowhere://bucket: can't be used: Protocol not known: nowhere",
        ),
        (["-o", "traces", "--aggregate", "SELECT 1"], "holds no result of unjank fleet"),
    ],
)
def test_wrong_usage(project: Path, arguments: list[str], words: str) -> None:
    """One line that says how to mend it, and exit code 2."""
    done = _run(*arguments, cwd=project)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_bar_on_a_terminal_only(project: Path) -> None:
    """Progress is drawn where somebody looks, with the number of traces."""
    ours, theirs = pty.openpty()
    command: list[str | Path] = [_UNJANK, "fleet", SLICES, "traces", "-o", "out"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=project)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass  # how Linux says that the other end of a terminal is closed
    os.close(ours)
    assert child.wait() == 0
    assert b"5/5" in seen
    assert b"1 failed" in seen


def test_sql_or_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first argument is SQL if it starts like a statement and is no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "select me").write_text("a trace")
    assert _split(["SELECT 1", "a"], None) == ("SELECT 1", ["a"])
    assert _split(["  with x as (select 1)\nselect * from x", "a"], None)[1] == ["a"]
    assert _split(["INCLUDE PERFETTO MODULE slices.flow; SELECT 1"], None)[1] == []
    assert _split(["-- comment\nSELECT 1", "a"], None)[1] == ["a"]
    for name in ("select me", "selected.pftrace", "traces/", "@names", "create.json"):
        assert _split([name], None) == (None, [name])


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("2K", 2048), ("1.5M", 3 << 19), ("2GiB", 2 << 30), ("1gb", 1 << 30)]
)
def test_sizes(text: str, size: int) -> None:
    """Sizes are in powers of 1024, with or without B."""
    assert _bytes(text) == size
