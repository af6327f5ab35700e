"""Programs that strain the recorder: signals in waits, dying threads, forks, threads that outlive `main`."""

from collections import Counter, defaultdict
from pathlib import Path

from tests.record.recordings import Recorded, record_program


def _assert_nested(recorded: Recorded) -> None:
    """Slices of a thread lie within one another or apart; only those open at the end have no duration."""
    tracks = defaultdict(list)
    for piece in recorded.slices:
        if piece.thread and piece.dur >= 0:
            tracks[piece.pid, piece.tid].append((piece.ts, piece.ts + piece.dur))
    for pieces in tracks.values():
        open_ends: list[int] = []
        for begin, end in pieces:
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def test_signal_handlers_that_take_locks_run_inside_waits(tmp_path: Path) -> None:
    """A handler that takes locks inside a wait of the main thread neither hangs nor tears slices."""
    recorded = record_program(
        tmp_path,
        """
        lock = threading.Lock()
        inner = threading.RLock()
        handled = 0
        def handle(number, frame):
            global handled
            with inner:
                handled += 1
        signal.signal(signal.SIGUSR1, handle)
        done = False
        def hold():
            while not done:
                with lock, inner:
                    time.sleep(0)
        def interrupt():
            sent = 0
            while not done:
                os.kill(os.getpid(), signal.SIGUSR1)
                sent += 1
                while handled < sent and not done:  # or handlers would pile up on handlers that wait
                    time.sleep(0)  # gives the GIL away, waits for nothing
        threads = [threading.Thread(target=f) for f in (hold, hold, interrupt)]
        for thread in threads:
            thread.start()
        for _ in range(300):
            with lock:
                pass
            lock.acquire(timeout=0.001) and lock.release()
        done = True
        for thread in threads:
            thread.join()
        print(handled > 0)
        """,
    )
    assert (recorded.exit_code, recorded.stdout) == (0, "True\n")
    _assert_nested(recorded)
    assert recorded.contentions_of("lock")


def test_short_lived_threads_are_all_recorded(tmp_path: Path) -> None:
    """Each of many threads that wait once and end is in the trace by its own name, with its one wait."""
    recorded = record_program(
        tmp_path,
        """
        gate = threading.Lock()
        for batch in range(60):
            with gate:
                threads = [threading.Thread(target=lambda: gate.acquire() and gate.release(),
                                            name=f"short {batch}.{i}") for i in range(5)]
                for thread in threads:
                    thread.start()
                until_waited(gate, 5)
            for thread in threads:
                thread.join()
        """,
    )
    waits = Counter(piece.thread for piece in recorded.contentions_of("gate"))
    assert waits == {f"short {batch}.{i}": 1 for batch in range(60) for i in range(5)}


def test_a_join_is_named_after_the_thread(tmp_path: Path) -> None:
    """The joined thread's name is the wait's object, also after it was renamed."""
    recorded = record_program(
        tmp_path,
        """
        go = threading.Event()
        worker = threading.Thread(target=go.wait, name="before")
        worker.start()
        worker.name = "after"
        threading.Timer(0.05, go.set).start()
        worker.join()
        """,
    )
    assert [piece.args.get("object") for piece in recorded.named("wait Thread.join")] == ["after"]


def test_daemon_threads_at_exit(tmp_path: Path) -> None:
    """Daemon threads that hold, wait for and pass on locks while the interpreter goes down do no harm."""
    recorded = record_program(
        tmp_path,
        """
        lock, condition, items = threading.Lock(), threading.Condition(), queue.Queue(1)
        def hammer():
            while True:
                with lock:
                    time.sleep(0)
        def sleep_for_ever():
            with condition:
                condition.wait()
        def serve():
            while True:
                items.get()
        for function in (hammer, hammer, sleep_for_ever, serve):
            threading.Thread(target=function, daemon=True).start()
        for number in range(50):
            items.put(number)
        print("leaving")
        """,
    )
    assert (recorded.exit_code, recorded.stdout, recorded.stderr.count("Fatal")) == (0, "leaving\n", 0)
    assert [piece.args["exit"] for piece in recorded.named("session end")] == ["exited"]
    _assert_nested(recorded)


def test_forks_from_threads_while_others_wait(tmp_path: Path) -> None:
    """Each child that a busy, threaded program forks runs on with threads of its own and is in the file."""
    recorded = record_program(
        tmp_path,
        """
        lock = threading.Lock()
        done = False
        def hammer():
            while not done:
                with lock:
                    time.sleep(0)
        def child():
            own = threading.Lock()
            own.acquire()
            waiter = threading.Thread(target=own.acquire, name="child's waiter")
            waiter.start()
            until_waited(own)
            own.release()
            waiter.join()
        def fork():
            for _ in range(4):
                pid = os.fork()
                if pid == 0:
                    try:
                        child()
                    finally:
                        os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
        hammers = [threading.Thread(target=hammer) for _ in range(2)]
        for thread in hammers:
            thread.start()
        run_threads(fork, fork)
        done = True
        for thread in hammers:
            thread.join()
        """,
    )
    assert recorded.exit_code == 0, recorded.stderr
    waits = Counter(piece.pid for piece in recorded.contentions_of("own"))
    assert sorted(waits.values()) == [1] * 8
    assert Counter(piece.args["exit"] for piece in recorded.named("session end")) == {
        "os._exit": 8,
        "exited": 1,
    }
    _assert_nested(recorded)
