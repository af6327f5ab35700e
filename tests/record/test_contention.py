"""A contended acquire is in the trace with all that one wants to know of it."""

import os
from pathlib import Path

from tests.record.recordings import Recorded, record_program

from unjank import TraceProcessor

LEDGER = """
    class Ledger:
        def __init__(self):
            self._book_lock = threading.Lock()

        def audit(self):
            with self._book_lock:
                until_waited(self._book_lock, 2)

        def post(self):
            with self._book_lock:
                pass

    ledger = Ledger()
    all_done = threading.Event()
    def audit():
        ledger.audit()
        all_done.wait()
    def first():
        while not ledger._book_lock.locked(): time.sleep(0.0005)
        ledger.post()
    def second():
        while ledger._book_lock.locked() and not _record.waiters(ledger._book_lock): time.sleep(0.0005)
        ledger.post()
    auditor = threading.Thread(target=audit, name="auditor")
    auditor.start()
    run_threads(first, second)
    all_done.set()
    auditor.join()
"""


def test_waiter_owner_places_and_name(tmp_path: Path) -> None:
    """Who waited for whom, both code places, the lock's name and the number of other waiters."""
    recorded = record_program(tmp_path, LEDGER)
    assert recorded.exit_code == 0, recorded.stderr
    by_thread = {
        piece.thread: piece for piece in recorded.contentions if piece.args["lock"].startswith("Ledger")
    }
    assert {"first", "second"} == set(by_thread)
    first = by_thread["first"]
    tid = first.args["owner_tid"]
    assert first.name == (
        f"monitor contention with owner auditor ({tid}) at void Ledger.audit()(prog.py:20)"
        " waiters=0 blocking from void Ledger.post()(prog.py:24)"
    )
    assert first.args["lock"] == "Ledger._book_lock (prog.py:17)"
    assert first.args["lock_type"] == "Lock"
    assert first.args["result"] == "acquired"
    assert first.args["stack"].startswith("Ledger.post (prog.py:24) < first (prog.py:34)")
    assert first.args["waiter_path"] == first.args["owner_path"] == str(tmp_path / "prog.py")
    assert {piece.args["waiters"] for piece in by_thread.values()} == {0, 1}
    assert first.dur > 0


def test_perfettos_own_library_parses_the_slices(tmp_path: Path) -> None:
    """`android.monitor_contention` finds owner thread, methods and sources in our slice names."""
    record_program(tmp_path, LEDGER)
    with TraceProcessor(tmp_path / "out.pftrace") as tp:
        rows = list(
            tp.query(
                "include perfetto module android.monitor_contention;"
                "select * from android_monitor_contention where short_blocked_method = 'Ledger.post'"
            )
        )
    assert len(rows) == 2
    for row in rows:
        assert row.blocking_thread_name == "auditor"
        assert row.short_blocking_method == "Ledger.audit"
        assert row.blocking_src == "prog.py:20"
        assert row.blocked_src == "prog.py:24"
        assert row.blocking_tid == row.blocking_thread_tid


# contend(lock) waits once for a lock that another thread has.
CONTEND = """
        def contend(lock):
            def holder():
                with lock: until_waited(lock)
            t = threading.Thread(target=holder); t.start()
            while not _record_taken(lock): time.sleep(0.0005)
            with lock: pass
            t.join()
        def _record_taken(lock):
            if lock.acquire(blocking=False):
                lock.release()
                return False
            return True
"""


def _names(recorded: Recorded) -> set[str]:
    return {piece.args["lock"] for piece in recorded.contentions}


def test_names_are_what_the_lock_was_assigned_to(tmp_path: Path) -> None:
    """Attribute, global, local, class attribute, other object's attribute, with the line that assigns."""
    source = (
        CONTEND
        + """
        import dataclasses, types
        module_lock = threading.Lock()
        class Shared:
            class_lock = threading.RLock()
        box = types.SimpleNamespace()
        box.boxed = threading.Lock()
        @dataclasses.dataclass
        class Data:
            guard: object = dataclasses.field(default_factory=threading.Lock)
        def main():
            local_lock = threading.Lock()
            chained = also = threading.Lock()
            nested = threading.Lock() if sys.argv else None
            for lock in (module_lock, Shared.class_lock, box.boxed, local_lock, chained, nested,
                         threading.Lock(), [threading.Lock()][0], Data().guard):
                contend(lock)
        main()
    """
    )
    names = _names(record_program(tmp_path, source))
    assert {
        "module_lock (prog.py:29)",
        "Shared.class_lock (prog.py:31)",
        "box.boxed (prog.py:33)",
        "local_lock (prog.py:38)",
        "chained (prog.py:39)",
        "nested (prog.py:40)",
        "Lock in main (prog.py:42)",
    } <= names
    assert any(name.startswith("Data.guard (") for name in names), names


def test_locks_of_one_assignment_have_their_own_names(tmp_path: Path) -> None:
    """Two, four, attributes, a call among them, a nested attribute: each has what it was assigned to."""
    source = (
        CONTEND
        + """
        import types
        class Pair:
            def __init__(self):
                self.left, self.right = threading.Lock(), threading.RLock()
                self.part = types.SimpleNamespace()
                self.part.guard = threading.Lock()
        first, second = threading.Lock(), threading.Lock()
        def wrap(lock): return lock
        def main():
            here, there = threading.Lock(), threading.Lock()
            north, east, south, west = threading.Lock(), threading.Lock(), threading.Lock(), threading.Lock()
            plain, wrapped = threading.Lock(), wrap(threading.Lock())
            number, after = len("text"), threading.Lock()
            pair = Pair()
            for lock in (first, second, here, there, north, east, south, west, plain, wrapped, after,
                         pair.left, pair.right, pair.part.guard):
                contend(lock)
        main()
    """
    )
    names = {name.partition(" (")[0] for name in _names(record_program(tmp_path, source))}
    assert names >= {
        *("first", "second", "here", "there", "north", "east", "south", "west", "plain", "after"),
        *("Pair.left", "Pair.right", "self.part.guard", "Lock in main"),
    }


def test_a_librarys_lock_is_called_after_the_object_the_program_made(tmp_path: Path) -> None:
    """The lock inside a queue is `Worker.inbox.mutex`, at the line that made the queue."""
    source = """
        class Worker:
            def __init__(self):
                self.inbox = queue.Queue()
        worker = Worker()
        def holder():
            with worker.inbox.mutex: until_waited(worker.inbox.mutex)
        def putter():
            while not worker.inbox.mutex.locked(): time.sleep(0.0005)
            worker.inbox.put(1)
        run_threads(holder, putter)
    """
    recorded = record_program(tmp_path, source)
    (contention,) = [piece for piece in recorded.contentions if piece.thread == "putter"]
    assert contention.args["lock"] == "Worker.inbox.mutex (prog.py:17)"
    assert "blocking from void Queue.put()(queue.py:" in contention.name


def test_odd_names_do_not_break_the_format(tmp_path: Path) -> None:
    """Brackets in a thread's name are replaced in the slice and kept on the track."""
    source = """
        lock = threading.Lock()
        def holder():
            with lock: until_waited(lock)
        t = threading.Thread(target=holder, name="odd (name) at x (1)"); t.start()
        while not lock.locked(): time.sleep(0.0005)
        with lock: pass
        t.join()
    """
    recorded = record_program(tmp_path, source)
    (contention,) = recorded.contentions_of("lock")
    assert "with owner odd [name] at x [1] (" in contention.name
    assert "odd (name) at x (1)" in {piece.thread for piece in recorded.slices}


def test_a_timed_out_acquire_says_so(tmp_path: Path) -> None:
    """The slice of a wait that ran out of time ends with result "timeout"."""
    source = """
        lock = threading.Lock()
        done = threading.Event()
        def holder():
            with lock: done.wait()
        t = threading.Thread(target=holder); t.start()
        while not lock.locked(): time.sleep(0.0005)
        print(lock.acquire(timeout=0.01))
        done.set(); t.join()
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "False\n"
    (contention,) = recorded.contentions_of("lock")
    assert contention.args["result"] == "timeout"


def test_an_rlock_taken_again_is_no_contention(tmp_path: Path) -> None:
    """A thread that takes its own RLock several times is not seen waiting."""
    source = """
        lock = threading.RLock()
        with lock:
            with lock: print(lock)
    """
    recorded = record_program(tmp_path, source)
    assert "owner=" in recorded.stdout
    assert recorded.contentions == []


def test_without_root_the_owners_run_queue_time_is_an_argument(tmp_path: Path) -> None:
    """With procfs scheduling each contention tells how long the owner ran and was kept off the CPU."""
    recorded = record_program(tmp_path, LEDGER, sched="procfs")
    (first,) = [piece for piece in recorded.contentions if piece.thread == "first"]
    assert 0 <= first.args["owner_run_ns"] + first.args["owner_wait_ns"] <= first.dur
    assert first.args["owner_nice"] == os.getpriority(os.PRIO_PROCESS, 0)


def test_constructors_that_run_often_name_their_locks(tmp_path: Path) -> None:
    """A class whose constructor the interpreter has optimised: same name as the first time."""
    source = """
        class Ledger:
            def __init__(self):
                self.book_lock = threading.Lock()
        for _ in range(500):
            ledger = Ledger()
        lock = ledger.book_lock
        def holder():
            with lock: until_waited(lock)
        def waiter():
            while not lock.locked(): time.sleep(0.0005)
            with lock: pass
        run_threads(holder, waiter)
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 0, recorded.stderr
    assert [piece.args["lock"] for piece in recorded.contentions_of("Ledger.book_lock")] == [
        "Ledger.book_lock (prog.py:17)"
    ]
