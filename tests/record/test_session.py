"""Recording from within a program: `with unjank.record(...)`."""

import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.record.recordings import PREAMBLE, read_slices

import unjank
from unjank import _record


def contend() -> None:
    """One contended acquire of a lock called `lock`, by the calling thread."""
    lock = threading.Lock()

    def hold() -> None:
        with lock:
            while not _record.waiters(lock):  # type: ignore[arg-type]  # the recorded twin
                pass

    holder = threading.Thread(target=hold, name="holder")
    holder.start()
    while not lock.locked():
        pass
    with lock:
        pass
    holder.join()


def test_a_block_is_recorded(tmp_path: Path) -> None:
    """Locks made in the block are in the trace, with the names of threads that ran before."""
    with unjank.record(tmp_path / "out.pftrace", sched="off") as recording:
        contend()
    assert recording.sched == "off"
    slices = read_slices(tmp_path / "out.pftrace")
    (contention,) = [
        piece for piece in slices if piece.args.get("lock", "").startswith("lock (test_session.py:")
    ]
    assert contention.thread == "MainThread"
    assert [piece.args["exit"] for piece in slices if piece.name == "session end"] == ["exited"]


def test_everything_is_put_back(tmp_path: Path) -> None:
    """After the block Python's own lock types and functions are where they were."""
    names = ("Lock", "RLock", "_allocate_lock", "_CRLock")
    before = [getattr(threading, name) for name in names] + [queue.SimpleQueue, threading.Thread.join]
    with unjank.record(tmp_path / "out.pftrace", sched="off"):
        assert threading.Lock is not before[0]
        assert queue.SimpleQueue is not before[4]
    after = [getattr(threading, name) for name in names] + [queue.SimpleQueue, threading.Thread.join]
    assert before == after


def test_everything_is_put_back_after_an_exception(tmp_path: Path) -> None:
    """An exception passes through the block, and the trace is whole."""
    before = threading.Lock
    with pytest.raises(ZeroDivisionError), unjank.record(tmp_path / "out.pftrace", sched="off"):
        1 / 0  # noqa: B018  raises
    assert threading.Lock is before
    assert read_slices(tmp_path / "out.pftrace")


def test_locks_of_a_recording_outlive_it(tmp_path: Path) -> None:
    """A lock made in the block works on, unrecorded, and is recorded again by a later block."""
    with unjank.record(tmp_path / "first.pftrace", sched="off"):
        lock = threading.Lock()
    with lock:
        assert lock.locked()
    with unjank.record(tmp_path / "second.pftrace", sched="off"):
        contend()
    assert [p for p in read_slices(tmp_path / "second.pftrace") if p.name.startswith("monitor contention")]


def test_one_recording_at_a_time(tmp_path: Path) -> None:
    """A second recording inside the first is refused with the way out, and spoils nothing."""
    with unjank.record(tmp_path / "out.pftrace", sched="off"):
        with (
            pytest.raises(unjank.RecordError, match="end that recording first"),
            unjank.record(tmp_path / "inner.pftrace", sched="off"),
        ):
            pass
        contend()
    assert not (tmp_path / "inner.pftrace").exists()
    assert [p for p in read_slices(tmp_path / "out.pftrace") if p.name.startswith("monitor contention")]


def test_a_path_that_cannot_be_written_is_an_error_before_the_block(tmp_path: Path) -> None:
    """RecordError with path and cause; nothing is replaced."""
    before = threading.Lock
    with pytest.raises(unjank.RecordError, match=r"cannot write the trace to .*No such file or directory"):
        unjank.record(tmp_path / "no" / "out.pftrace", sched="off").start()
    assert threading.Lock is before


def test_a_full_disk_is_a_warning() -> None:
    """The block ends as if nothing were; a RuntimeWarning tells that the recording is short."""
    with (
        pytest.warns(RuntimeWarning, match="No space left on device"),
        unjank.record("/dev/full", sched="off"),
    ):
        contend()


def test_modules_imported_before_use_the_recorded_locks(tmp_path: Path) -> None:
    """`from threading import Lock` in a module that is loaded already is reached too."""
    code = f"""{PREAMBLE}
import types
early = types.ModuleType("early")
exec("from threading import Lock\\nfrom _thread import allocate_lock", early.__dict__)
sys.modules["early"] = early
import unjank
with unjank.record({str(tmp_path / "out.pftrace")!r}, sched="off"):
    print(type(early.Lock()) is _record.Lock, type(early.allocate_lock()) is _record.Lock)
print(type(early.Lock()) is _record.Lock)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "True True\nFalse\n", done.stderr
