"""`unjank report`, as the installed command."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
from tests.findings.builder import MS, TraceBuilder
from tests.report.launcher import launcher as launcher_trace

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    """A UI thread that waits 18.2 ms for a thread that two others keep off the CPU."""
    path = tmp_path / "launcher.pftrace"
    path.write_bytes(launcher_trace().data())
    return path


def unjank(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed command as a shell would, 80 columns wide."""
    return subprocess.run(
        [UNJANK, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "80", **environment},
    )


def test_led_by_the_worst_stall(launcher: Path) -> None:
    """One plain sentence tells who waited, for what, who held it where, and who took its CPU."""
    done = unjank("report", launcher)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "HIGH UI thread (launcher.py) waited 18.2 ms for Queue._lock (launcher.py:41), held by "
        "BackgroundExecutor in Queue.post() (launcher.py:77), which was kept off the CPU for 15.9 ms by "
        "camera-0 and camera-1"
    ) in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def test_json_to_stdout_is_alone_there(launcher: Path) -> None:
    """With `--json -` standard output is one JSON object; the sentence goes to standard error."""
    done = unjank("report", launcher, "--json", "-")
    content = json.loads(done.stdout)
    assert set(content) == {"schema", "trace", "engine", "findings", "notes"}
    assert (content["schema"], content["trace"]) == ("unjank.report/1", str(launcher))
    assert [finding["kind"] for finding in content["findings"]] == ["priority-inversion", "lock-contention"]
    assert content["findings"][1]["detail"]["total_ns"] == 18_200_000
    assert done.stderr.startswith("UI thread (launcher.py) waited 18.2 ms")


def test_json_to_a_file_besides_the_report(launcher: Path, tmp_path: Path) -> None:
    """With `--json FILE` people still get the report."""
    target = tmp_path / "out.json"
    done = unjank("report", launcher, "--json", target)
    assert done.returncode == 0
    assert "priority-inversion (1)" in done.stdout
    assert len(json.loads(target.read_text())["findings"]) == 2


@pytest.mark.parametrize("threshold", ["high", "medium", "low"])
def test_fail_on_crossed(launcher: Path, threshold: str) -> None:
    """A finding as bad as the threshold makes the exit code 1, and the report is there all the same."""
    done = unjank("report", launcher, "--fail-on", threshold, "--json", "-")
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"]
    assert f"(--fail-on {threshold})" in done.stderr


def test_fail_on_not_crossed(tmp_path: Path) -> None:
    """A finding below the threshold leaves the exit code 0; one at it does not."""
    trace = TraceBuilder()
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 1 * MS, 21 * MS)
    path = tmp_path / "medium.pftrace"
    path.write_bytes(trace.data())
    assert unjank("report", path, "--fail-on", "high").returncode == 0
    assert unjank("report", path, "--fail-on", "medium").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report"], "Missing argument"),
        (["report", "missing.pftrace"], "missing.pftrace: no such file"),
        (["report", "noise.bin"], "noise.bin: "),
        (["report", "empty.bin"], "empty.bin: "),
        (["report", "x", "--fail-on", "dire"], "--fail-on"),
        (["report", "x", "--top", "0"], "--top"),
        (["report", "x", "--html", "-"], "'--html': a page goes to a file"),
        (["run", "--html", "-", "x.py"], "'--html': a page goes to a file"),
    ],
)
def test_bad_input(tmp_path: Path, arguments: list[str], words: str) -> None:
    """Wrong usage and bad traces are one line on standard error and exit code 2."""
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "empty.bin").touch()
    done = subprocess.run(
        [UNJANK, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.startswith("unjank: ")
    assert len(done.stderr.splitlines()) == 1


def test_unwritable_json(launcher: Path) -> None:
    """A JSON file that cannot be written is exit code 2 and says which."""
    done = unjank("report", launcher, "--json", "/nonexistent/out.json")
    assert done.returncode == 2
    assert "cannot write /nonexistent/out.json" in done.stderr


def test_page_besides_the_report(launcher: Path, tmp_path: Path) -> None:
    """With `--html FILE` people still get the report, and the page has its first sentence and a picture."""
    target = tmp_path / "out.html"
    done = unjank("report", launcher, "--html", target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "priority-inversion (1)" in done.stdout
    page = target.read_text("utf-8")
    assert "UI thread (launcher.py) waited 18.2 ms for Queue._lock (launcher.py:41)" in page
    assert '<svg class="picture wide"' in page
    assert [path.name for path in tmp_path.iterdir() if ".tmp" in path.name] == []


def test_unwritable_page(launcher: Path) -> None:
    """A page that cannot be written is exit code 2 and says which."""
    done = unjank("report", launcher, "--html", "/nonexistent/out.html")
    assert done.returncode == 2
    assert "/nonexistent/out.html" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal(launcher: Path, encoding: str) -> None:
    """A terminal that lacks a character gets an escape instead of a crash."""
    done = subprocess.run(
        [UNJANK, "report", launcher],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 0, done.stderr
    assert b"UI thread" in done.stdout


def test_reader_that_goes_away(launcher: Path) -> None:
    """`unjank report … | head -1` ends without a word when nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [UNJANK, "report", launcher, "--json", "-"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "android_startup_warm_api32.perfetto-trace",
        "android_jank_cpu_sampling.pftrace",
        "android_atrace_headerless.txt",
        "android_systrace_surfaceflinger.html",
        "art_method_streaming.trace.gz",
        "chrome_simple.zip",
        "empty_systrace.html",
    ],
)
def test_traces_of_others(traces_dir: Path, name: str) -> None:
    """Real traces of every format are reported; one without contention says so."""
    done = unjank("report", traces_dir / name)
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    # One has the slices, one logcat's word on long waits.
    told = ("android_startup_warm_api32.perfetto-trace", "android_jank_cpu_sampling.pftrace")
    assert ("no lock contention slices" in words) == (name not in told)


@pytest.mark.parametrize(
    "name", ["bad_gecko_aborts_engine.json", "bad_system_trace_events.json", "bad_unknown_type.txt"]
)
def test_bad_traces_of_others(traces_dir: Path, name: str) -> None:
    """Traces that the engine refuses or dies of are one line with the file's name and exit code 2."""
    done = unjank("report", traces_dir / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert name in done.stderr
    assert len(done.stderr.splitlines()) == 1
