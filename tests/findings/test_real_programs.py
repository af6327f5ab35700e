"""A real program for each rule, recorded and judged by the installed commands."""

import json
import subprocess
import sysconfig
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"
LAUNCHER = Path(__file__).resolve().parents[2] / "examples" / "launcher_jank.py"
SCHEDSTAT = Path("/proc/thread-self/schedstat")

CONTENTION = """
    import threading, time

    class Ledger:
        def __init__(self):
            self._book_lock = threading.Lock()
            self.is_held = threading.Event()

        def post(self):
            with self._book_lock:
                self.is_held.set()
                time.sleep(0.12)

        def read(self):
            with self._book_lock:
                return 1

    ledger = Ledger()
    poster = threading.Thread(target=ledger.post, name="poster")
    poster.start()
    ledger.is_held.wait()
    ledger.read()
    poster.join()
"""

DEADLOCK = """
    import threading

    class Ledger:
        def __init__(self):
            self._book_lock = threading.Lock()
            self._cash_lock = threading.Lock()
            self.both = threading.Barrier(2)

        def pay(self):
            with self._book_lock:
                self.both.wait()
                self._cash_lock.acquire(timeout=0.25)
            self.both.wait()

        def audit(self):
            with self._cash_lock:
                self.both.wait()
                with self._book_lock:
                    pass
            self.both.wait()

    ledger = Ledger()
    threads = [
        threading.Thread(target=ledger.pay, name="payer"),
        threading.Thread(target=ledger.audit, name="auditor"),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

SELF_DEADLOCK = """
    import os, signal, threading

    class Cache:
        def __init__(self):
            self._lock = threading.Lock()

        def get(self):
            with self._lock:
                return self.refresh()

        def refresh(self):
            with self._lock:
                return 1

    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        Cache().get()
    except KeyboardInterrupt:
        pass
"""


def record(program: Path, sched: str) -> list[dict[str, Any]]:
    """Runs a program under `unjank run` and returns the findings of its report."""
    report = program.parent / "report.json"
    done = subprocess.run(
        [UNJANK, "run", "--sched", sched, "-o", report.with_suffix(".pftrace"), "--json", report, program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    findings: list[dict[str, Any]] = json.loads(report.read_text())["findings"]
    return findings


def written(folder: Path, source: str) -> Path:
    """The program as a file."""
    path = folder / "bank.py"
    path.write_text(dedent(source))
    return path


def of_kind(findings: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The worst finding of a kind; on a busy machine others may come after it."""
    return next(finding for finding in findings if finding["kind"] == kind)


def test_lock_contention(tmp_path: Path) -> None:
    """Main thread, lock, owner and both places in the code are told as they are in the program."""
    finding = of_kind(record(written(tmp_path, CONTENTION), "off"), "lock-contention")
    assert (finding["process"], finding["thread"], finding["owner"]) == ("bank.py", "MainThread", "poster")
    assert finding["detail"]["lock"] == "Ledger._book_lock (bank.py:6)"
    assert finding["where"] == "Ledger.read() (bank.py:15)"
    assert finding["owner_where"] == "Ledger.post() (bank.py:10)"
    assert finding["severity"] == "high"
    assert finding["dur_ns"] > 16_000_000


def test_deadlock(tmp_path: Path) -> None:
    """Two threads that take two locks in opposite order, until one gives up."""
    finding = of_kind(record(written(tmp_path, DEADLOCK), "off"), "deadlock-cycle")
    assert (finding["severity"], finding["detail"]["broken_by"]) == ("medium", "timeout")
    waits = {(link["thread"], link["lock"].split()[0], link["owner"]) for link in finding["detail"]["cycle"]}
    assert waits == {
        ("payer", "Ledger._cash_lock", "auditor"),
        ("auditor", "Ledger._book_lock", "payer"),
    }


def test_deadlock_with_itself_ended_by_ctrl_c(tmp_path: Path) -> None:
    """A thread that takes a lock again which is no RLock, until somebody presses Ctrl-C."""
    finding = of_kind(record(written(tmp_path, SELF_DEADLOCK), "off"), "deadlock-cycle")
    assert (finding["severity"], finding["thread"]) == ("high", "MainThread")
    assert finding["detail"]["lock"] == "Cache._lock (bank.py:6)"
    assert finding["where"] == "Cache.refresh() (bank.py:13)"


@pytest.mark.skipif(not SCHEDSTAT.exists(), reason=f"this kernel has no {SCHEDSTAT}")
def test_priority_inversion(tmp_path: Path) -> None:
    """The demo program's UI thread waits for a thread of low priority that others keep off the CPU."""
    program = tmp_path / LAUNCHER.name
    program.write_text(LAUNCHER.read_text())
    finding = of_kind(record(program, "procfs"), "priority-inversion")
    assert (finding["thread"], finding["owner"]) == ("ui", "BackgroundExecutor")
    assert finding["detail"]["lock"].startswith("MessageQueue._lock (launcher_jank.py:")
    assert finding["detail"]["inversion"] is True
    assert finding["severity"] == "high"
