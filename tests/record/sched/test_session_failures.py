"""Sessions that meet a full disk, a small ring, a killed recorder, a fork, or their own misuse."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.record.sched.test_session import play, rows

from unjank import RecordError, TraceProcessor
from unjank.record.sched import FtraceSession
from unjank.record.sched.session import affordable_ring_kb


def _own_instances(tracefs: Path) -> list[Path]:
    return list((tracefs / "instances").glob(f"unjank-{os.getpid()}*"))


def _overrun(tracefs: Path) -> int:
    files = [file for instance in _own_instances(tracefs) for file in instance.glob("per_cpu/*/stats")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("overrun"))


def test_a_full_disk_is_reported(real_tracefs: Path) -> None:
    """The session ends in order and says that events are missing."""
    with FtraceSession(Path("/dev/full")) as session:
        play()
    assert session.stats.sink_failed
    assert session.stats.instance_left is None


def test_a_ring_that_is_too_small_loses_events_and_counts_them(real_tracefs: Path, tmp_path: Path) -> None:
    """A loss is never silent: it is counted, and the trace says so."""
    path = tmp_path / "out.pftrace"
    with FtraceSession(path, ring_kb=8) as session:
        while _overrun(real_tracefs) == 0:
            play()
    assert session.stats.lost_events > 0
    with TraceProcessor(str(path)) as trace:
        sql = "select sum(value) from stats where name = 'ftrace_cpu_overrun_delta'"
        assert rows(trace, sql) == [(session.stats.lost_events,)]


def test_an_instance_of_a_killed_recorder_is_removed_next_time(real_tracefs: Path, tmp_path: Path) -> None:
    """SIGKILL leaves an instance; the next session does not."""
    code = (
        "import os, pathlib, signal\n"
        "from unjank.record.sched import FtraceSession\n"
        f"FtraceSession(pathlib.Path({str(tmp_path / 'killed')!r})).start()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        assert process.wait() == -signal.SIGKILL
    left = real_tracefs / "instances" / f"unjank-{process.pid}"
    assert left.exists()
    with FtraceSession(tmp_path / "next"):
        pass
    assert not left.exists()


def test_a_forked_child_does_not_keep_the_instance(real_tracefs: Path, tmp_path: Path) -> None:
    """The instance goes although a child, forked while recording, still lives; and the child can end."""
    code = (
        "import os, pathlib\n"
        "from unjank.record.sched import FtraceSession\n"
        f"session = FtraceSession(pathlib.Path({str(tmp_path / 'forked')!r}))\n"
        "session.start()\n"
        "wait, release = os.pipe()\n"
        "ready, tell = os.pipe()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.close(release)\n"
        "    os.write(tell, b'x')\n"
        "    os.read(wait, 1)\n"
        "    raise SystemExit(0)\n"
        "os.read(ready, 1)\n"
        "print(session.stop().instance_left)\n"
        "os.close(release)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["None", "0"]


def test_a_session_starts_once(real_tracefs: Path, tmp_path: Path) -> None:
    """A second start is refused, a second stop answers the same."""
    session = FtraceSession(tmp_path / "out")
    with pytest.raises(RecordError, match="not started"):
        session.stop()
    with pytest.raises(RecordError, match="not stopped yet"):
        _ = session.stats
    session.start()
    with pytest.raises(RecordError, match="only once"):
        session.start()
    assert session.stop() == session.stop() == session.stats
    with pytest.raises(RecordError, match="only once"):
        session.start()


def test_a_target_that_cannot_be_opened_leaves_no_instance(real_tracefs: Path, tmp_path: Path) -> None:
    """A start that fails half-way cleans up and names the file."""
    target = tmp_path / "no" / "such" / "folder"
    with pytest.raises(
        RecordError, match=rf"{target}.*No such file or directory|No such file or directory.*{target}"
    ):
        FtraceSession(target).start()
    assert not _own_instances(real_tracefs)


def test_foreign_shared_state_is_refused(real_tracefs: Path, tmp_path: Path) -> None:
    """A descriptor that is not open is an error, not a second creator."""
    path = tmp_path / "out"
    path.write_bytes(b"kept")
    with pytest.raises(RecordError, match="Bad file descriptor"):
        FtraceSession(path, shared_fd=10**6).start()
    assert path.read_bytes() == b"kept"
    assert not _own_instances(real_tracefs)


@pytest.mark.parametrize(
    ("line", "expected"),
    [("MemAvailable: 999999999 kB", 16 * 1024), ("MemAvailable: 1 kB", 512), ("MemFree: 1 kB", 16 * 1024)],
)
def test_the_ring_fits_the_memory_that_is_free(tmp_path: Path, line: str, expected: int) -> None:
    """Large where memory is plenty, never too small to work."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 5 kB\n{line}\n")
    assert affordable_ring_kb(tmp_path) == expected
