"""`unjank compare`, as the installed command."""

import json
from pathlib import Path

import pytest
from tests.cli.test_report import unjank
from tests.findings.builder import MS, TraceBuilder


def trace(folder: Path, name: str, *, wait: int, times: int, lock: str = "Ledger._lock (bank.py:4)") -> Path:
    """A trace in which a thread waits so often for so long."""
    built = TraceBuilder()
    built.process(100, "bank.py")
    reader, writer = built.thread(100, 101, "reader"), built.thread(100, 102, "writer")
    for index in range(times):
        start = index * 50 * MS
        built.contention(reader, writer, start, start + wait + index, lock=lock)
    path = folder / name
    path.write_bytes(built.data())
    return path


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Thirty waits of 20 ms."""
    return trace(tmp_path, "slow.pftrace", wait=20 * MS, times=30)


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """Thirty waits of 2 ms for the same lock, which is on another line now."""
    return trace(tmp_path, "quick.pftrace", wait=2 * MS, times=30, lock="Ledger._lock (bank.py:9)")


def test_better(slow: Path, quick: Path) -> None:
    """A lock that is held for a tenth of the time is better, with an interval."""
    done = unjank("compare", slow, quick)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 better." in done.stdout
    assert "medium to low   lock-contention  reader (bank.py)" in done.stdout
    assert "for Ledger._lock (bank.py:9)" in done.stdout
    assert "median 0.1x (0.1 to 0.1)" in " ".join(done.stdout.split())


def test_worse_crosses_a_threshold(slow: Path, quick: Path) -> None:
    """`--fail-on` counts what is new or worse, not what was bad before and is no worse."""
    done = unjank("compare", quick, slow, "--fail-on", "medium")
    assert done.returncode == 1
    assert done.stderr == "unjank: 1 new or worse of severity medium or worse\n"
    assert unjank("compare", slow, slow, "--fail-on", "low").returncode == 0
    assert unjank("compare", quick, slow, "--fail-on", "high").returncode == 0


def test_json(slow: Path, quick: Path, tmp_path: Path) -> None:
    """JSON goes to standard output alone, or to a file beside the terminal's."""
    done = unjank("compare", slow, quick, "--json", "-")
    document = json.loads(done.stdout)
    assert (document["schema"], document["changes"]["better"]) == ("unjank.compare/1", 1)
    assert done.stderr == "1 better.\n"
    (entry,) = document["findings"]
    assert entry["ratios"]["median"]["high"] < 1
    beside = tmp_path / "compare.json"
    assert "1 better." in unjank("compare", slow, quick, "--json", beside).stdout
    assert json.loads(beside.read_text()) == document


def test_real_traces(api32_trace: Path, traces_dir: Path) -> None:
    """Two real traces of different devices: what one has is gone, what the other has is new."""
    done = unjank("compare", api32_trace, traces_dir / "android_jank_cpu_sampling.pftrace", "--json", "-")
    changes = json.loads(done.stdout)["changes"]
    assert changes == {"new": 10, "worse": 0, "unclear": 0, "better": 0, "gone": 56}


def test_notes(slow: Path, quick: Path) -> None:
    """What a trace could not tell is said of it; what neither could, once."""
    quick.write_bytes(quick.read_bytes()[:-2])
    done = unjank("compare", slow, quick)
    notes = " ".join(done.stdout.partition("\nNotes\n")[2].split())
    assert notes.startswith("- both: The trace has no scheduling")
    assert "- after: The trace is cut off in the middle of a packet" in notes
    assert "before:" not in notes


def test_unreadable_trace(slow: Path, tmp_path: Path) -> None:
    """A trace that cannot be read is named, in one line."""
    done = unjank("compare", slow, tmp_path / "none.pftrace")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.pftrace" in done.stderr
    assert done.stderr.count("\n") == 1
