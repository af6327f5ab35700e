"""A worker's process that is ended from outside, and what it leaves."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fleet.small_traces import SLICES

from unjank import EngineError
from unjank.fleet import Trace, open_fleet
from unjank.fleet._engine_process import EngineProcess, ProcessDiedError
from unjank.fleet._job import Job, Limits
from unjank.fleet._supervisor import StoppedError, Supervisor

pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")

_JOB = Job(SLICES, limits=Limits(seconds=60, memory_bytes=256 << 20))


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """A supervisor whose process has started."""
    with Supervisor(_JOB) as made:
        assert made.check() is None
        yield made


def _wait_until_gone(pid: int) -> None:
    """Waits for the end of a process that need not be a child."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with closing(os.fdopen(fd, "rb", closefd=True)):
        assert select.select([fd], [], [], 30)[0], "the process still runs"


def test_killed_process_is_replaced(supervisor: Supervisor, folder: Path) -> None:
    """A process that somebody killed costs nothing: the trace is asked in another one."""
    first = supervisor.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    outcome = supervisor.run(Trace(str(folder / "t02.pftrace")))
    assert outcome.failure is None
    assert outcome.rows == 2
    assert supervisor.pid not in (first, None)


def test_process_that_dies_each_time(
    supervisor: Supervisor, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace whose process dies again and again is an error that tells how it died."""
    request = EngineProcess.request

    def request_and_kill(self: EngineProcess, *arguments: object) -> None:
        request(self, *arguments)  # type: ignore[arg-type]
        if isinstance(arguments[0], dict) and "trace" in arguments[0]:
            os.kill(self.pid, signal.SIGSTOP)
            os.kill(self.pid, signal.SIGKILL)

    monkeypatch.setattr(EngineProcess, "request", request_and_kill)
    outcome = supervisor.run(Trace(str(folder / "t02.pftrace")))
    assert outcome.failure is not None
    assert outcome.failure.stage == "worker"
    assert outcome.failure.cause == "the worker's process was ended by signal 9, 3 times"


def test_temporary_files_go_with_the_process() -> None:
    """What a process that is killed had fetched is removed."""
    process = EngineProcess(_JOB)
    process.start()
    scratch = Path(process._scratch.name)
    assert list(scratch.iterdir()), "the folder for remote traces"
    process.kill()
    assert not scratch.exists()


def test_stop_from_another_thread(supervisor: Supervisor, folder: Path) -> None:
    """A stopped supervisor asks nothing any more."""
    supervisor.stop()
    with pytest.raises(StoppedError):
        supervisor.run(Trace(str(folder / "t02.pftrace")))


def test_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no engine, that is one error rather than one for each trace."""
    job = Job(SLICES, engine="shell", shell_path="/nonexistent", limits=_JOB.limits)
    with Supervisor(job) as supervisor, pytest.raises(EngineError, match="/nonexistent is not a program"):
        supervisor.check()


def test_last_words() -> None:
    """What a process wrote before it died is in the message."""
    process = EngineProcess(_JOB)
    process.start()
    process._last_words.write(b"first\nterminate called\n")
    process._last_words.flush()
    os.kill(process.pid, signal.SIGABRT)
    with pytest.raises(ProcessDiedError, match="was ended by signal 6: terminate called"):
        process.next_frame()
    process.kill()


def test_killed_run_leaves_nothing_running_and_goes_on(folder: Path, tmp_path: Path) -> None:
    """SIGKILL of the whole program: its workers end by themselves, what was committed can be read."""
    program = f"""
import os, signal, sys
from contextlib import nullcontext
from unjank.fleet import run_fleet
from unjank.fleet._supervisor import Supervisor

class Kill:
    left = 4
    def done(self, entry):
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

start = Supervisor.check
def check(self):
    found = start(self)
    print(self.pid, flush=True)
    return found
Supervisor.check = check
kill = lambda total: nullcontext(Kill())
run_fleet({str(folder)!r}, {SLICES!r}, {str(tmp_path / "out")!r}, workers=1, show_progress=kill)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    _wait_until_gone(int(done.stdout))
    half = open_fleet(tmp_path / "out")
    assert len(half.rows()) == 0 + 1 + 2  # the fourth was done, but not yet committed
    assert len(half.errors()) == 0
