"""`unjank view`, as the installed command."""

import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A file; what is in it is the UI's business."""
    path = tmp_path / "app.pftrace"
    path.write_bytes(b"trace")
    return path


@contextmanager
def viewing(trace: Path, *options: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Runs the command, and gives the address it prints once it listens."""
    with subprocess.Popen(
        [UNJANK, "view", str(trace), "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def get(address: str, path: str) -> bytes:
    """What the server gives for a path."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("GET", path)
    return connection.getresponse().read()


def trace_path(address: str) -> str:
    """The path of the trace itself."""
    return urlsplit(unquote(urlsplit(address).fragment.partition("?url=")[2])).path


def test_ctrl_c_ends_it(trace: Path) -> None:
    """Standard output has the address alone; Ctrl-C ends the command, and that is no failure."""
    with viewing(trace, "--port", "0") as (process, address):
        assert get(address, trace_path(address)) == b"trace"
        process.send_signal(signal.SIGINT)
        out, words = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "ends when the tab is closed, or on Ctrl-C" in words
    assert "Traceback" not in words


def test_records_another_meanwhile(trace: Path, tmp_path: Path) -> None:
    """While a trace is viewed another one is recorded, and both are whole."""
    program = tmp_path / "program.py"
    program.write_text("print('ran')")
    with viewing(trace, "--port", "0") as (_, address):
        done = subprocess.run(
            [UNJANK, "run", "-o", str(tmp_path / "other.pftrace"), str(program)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (0, "ran\n")
        assert get(address, trace_path(address)) == b"trace"
        with viewing(tmp_path / "other.pftrace", "--port", "0") as (_, second):
            assert get(second, trace_path(second)) == (tmp_path / "other.pftrace").read_bytes()


def test_the_users_browser_is_opened_and_its_end_is_the_end(trace: Path, tmp_path: Path) -> None:
    """Without --no-browser the browser gets the printed address, and closing it ends the command."""
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\n"
        "import sys, urllib.request\n"
        "trace = sys.argv[1].partition('?url=')[2]\n"
        "with urllib.request.urlopen(trace.rpartition('/')[0] + '/present') as tab: tab.read(3)\n"
    )
    browser.chmod(0o755)
    done = subprocess.run(
        [UNJANK, "view", str(trace), "--port", "0"],
        env={"BROWSER": str(browser), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.pftrace"], "none.pftrace: no such file"),
        (["."], ".: is a folder; give a trace file in it"),
        (["empty"], "empty: the trace is empty"),
        (["x", "--port", "65536"], "--port"),
        ([], "Missing argument"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], words: str) -> None:
    """What cannot be viewed is one line and exit code 2."""
    (tmp_path / "empty").touch()
    done = subprocess.run(
        [UNJANK, "view", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unjank: ")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
