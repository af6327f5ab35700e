"""`unjank query`, through the installed command."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_UNJANK = Path(sys.executable).with_name("unjank")
_NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT x FROM c"
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"


def _query(
    *arguments: str | Path, stdin: str | bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [_UNJANK, "query", *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **(env or {})},
    )


@pytest.fixture
def chrome(traces_dir: Path) -> Path:
    """A small trace: 18 slices, and a note about one lost event."""
    return traces_dir / "chrome_simple.json"


def test_table_is_the_default(api32_trace: Path) -> None:
    """Rows go to standard output, and nothing else does."""
    done = _query(api32_trace, "SELECT COUNT(*) AS slices FROM slice")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"slices\n------\n  9887\n", b"")


def test_notes_go_to_standard_error(chrome: Path) -> None:
    """What is to be known about the trace does not mix with the data."""
    done = _query(chrome, "SELECT 1 AS one", "--format", "csv")
    assert done.stdout == b"one\n1\n"
    assert done.stderr == b"unjank: note: data lost: misplaced_end_event = 1\n"


@pytest.mark.parametrize("how", ["argument", "file", "dash", "stdin", "file dash"])
def test_ways_to_give_sql(chrome: Path, tmp_path: Path, how: str) -> None:
    """SQL comes from the argument, a file, or standard input."""
    sql = "SELECT COUNT(*) AS n FROM slice"
    (tmp_path / "q.sql").write_text(sql)
    ways: dict[str, list[str | Path]] = {
        "argument": [sql],
        "file": ["-f", tmp_path / "q.sql"],
        "dash": ["-"],
        "stdin": [],
        "file dash": ["-f", "-"],
    }
    done = _query(chrome, *ways[how], "--format", "csv", stdin=sql)
    assert done.stdout == b"n\n18\n"


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
def test_published_queries_from_their_files(
    queries_dir: Path, api32_trace: Path, name: str, expected: list[object]
) -> None:
    """Both published queries run word for word."""
    done = _query(api32_trace, "-f", queries_dir / f"{name}.sql", "--format", "json")
    assert json.loads(done.stdout) == expected


def test_last_statement_is_printed(chrome: Path) -> None:
    """All statements run, the last one's rows are printed."""
    done = _query(
        chrome, "SELECT 1 AS a; CREATE TABLE t AS SELECT 5 AS x; SELECT x FROM t", "--format", "csv"
    )
    assert done.stdout == b"x\n5\n"


def test_sql_error(chrome: Path) -> None:
    """A SQL error is one line with the position, exit code 2, and no data."""
    done = _query(chrome, "SELECT 1;\nSELECT nope")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.splitlines()[-1] == b"unjank: SQL error at line 2, column 8: no such column: nope"


def test_json_is_valid_after_an_error(chrome: Path) -> None:
    """Even then `$(unjank query … --format json)` can be parsed."""
    done = _query(chrome, "SELECT nope", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)) == (2, [])


@pytest.mark.parametrize("name", ["bad_gecko_aborts_engine.json", "bad_unknown_type.txt", "none"])
def test_bad_trace(traces_dir: Path, name: str) -> None:
    """A bad trace is one line that starts with its name, and exit code 2."""
    done = _query(traces_dir / name, "SELECT 1")
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"unjank: {traces_dir / name}: ")


def test_wrong_usage(chrome: Path, tmp_path: Path) -> None:
    """Two sources of SQL, a file that is not there, and text that is no UTF-8 are one line each."""
    (tmp_path / "latin.sql").write_bytes(b"SELECT '\xe9'")
    for arguments, reason in (
        (["SELECT 1", "-f", tmp_path / "latin.sql"], "not both"),
        (["-f", tmp_path / "none.sql"], "No such file"),
        (["-f", tmp_path / "latin.sql"], "is not SQL in UTF-8 (byte 8)"),
        (["SELECT 1", "--engine", "wasm", "--shell-path", "/bin/true"], "use engine 'shell'"),
        (["SELECT 1", "--format", "xml"], "xml"),
    ):
        done = _query(chrome, *arguments)
        assert (done.returncode, done.stdout) == (2, b"")
        assert reason in done.stderr.decode().splitlines()[-1]


def test_nothing_to_run_on_a_terminal(chrome: Path) -> None:
    """Without SQL, a person at a terminal is told how to give it, instead of waiting."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([_UNJANK, "query", chrome], stdin=theirs, capture_output=True, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"give SQL, -f FILE" in done.stderr


def test_parquet_is_not_for_a_terminal(chrome: Path) -> None:
    """Parquet's bytes are not sent to a terminal."""
    ours, theirs = pty.openpty()
    try:
        command: list[str | Path] = [_UNJANK, "query", chrome, "SELECT 1", "--format", "parquet"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"-o FILE" in done.stderr


def test_output_file(chrome: Path, tmp_path: Path) -> None:
    """-o writes the file and nothing else; after an error what was there is still there."""
    target = tmp_path / "rows.csv"
    done = _query(chrome, "SELECT 7 AS x", "--format", "csv", "-o", target)
    assert (done.stdout, target.read_bytes()) == (b"", b"x\n7\n")
    assert _query(chrome, "SELECT nope", "--format", "csv", "-o", target).returncode == 2
    assert target.read_bytes() == b"x\n7\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_million_rows(chrome: Path, tmp_path: Path) -> None:
    """A million rows are written as they come: all of them, in a memory that does not hold them."""
    target = tmp_path / "rows.json"
    program = (
        "import resource, sys; from unjank.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    peaks = []
    for rows in (1000, 1_000_000):
        command: list[str | Path] = [
            sys.executable,
            "-c",
            program,
            "query",
            chrome,
            _NUMBERS.format(rows),
            "--format",
            "json",
            "-o",
            target,
        ]
        done = subprocess.run(command, capture_output=True, check=True)
        peaks.append(int(done.stderr.split()[-1]))
    assert json.loads(target.read_bytes()) == [{"x": number} for number in range(1, 1_000_001)]
    assert peaks[1] - peaks[0] < 50_000  # KiB; the rows alone would take more


def test_reader_that_goes_away(chrome: Path) -> None:
    """`| head` ends an endless result quietly."""
    command = f'"{_UNJANK}" query "{chrome}" "{_NUMBERS.format(10**12)}" --format csv | head -n 2'
    done = subprocess.run(["/bin/bash", "-o", "pipefail", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"x\n1\n")
    assert done.stderr == b"unjank: note: data lost: misplaced_end_event = 1\n"


def test_interrupt_in_the_middle_of_a_query(chrome: Path, tmp_path: Path) -> None:
    """Ctrl-C ends a query that would run for ever, and leaves no unfinished file."""
    # The first statement's note on standard error says that the trace is loaded and the query about to run.
    command: list[str | Path] = [_UNJANK, "query", chrome, _ENDLESS, "-o", tmp_path / "rows"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert b"note" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def test_cache_that_cannot_be_used(chrome: Path, tmp_path: Path) -> None:
    """Without a place for compiled code it works, and a note says why it is slow."""
    (tmp_path / "file").touch()
    done = _query(
        chrome, "SELECT 1 AS one", "--format", "csv", env={"XDG_CACHE_HOME": str(tmp_path / "file")}
    )
    assert (done.returncode, done.stdout) == (0, b"one\n1\n")
    assert b"note: the engine's compiled code is not cached" in done.stderr


def test_version_starts_without_the_engine() -> None:
    """`unjank --version` and `import unjank` load neither perfetto nor wasmtime."""
    program = (
        "import sys; from unjank.cli import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('perfetto', 'wasmtime', 'google.protobuf', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.stdout.splitlines()[-1] == b"[]"
