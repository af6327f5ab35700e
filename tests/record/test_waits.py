"""Waits on purpose are `wait` slices, never contention."""

from pathlib import Path

import pytest
from tests.record.recordings import record_program

WAITS = {
    "Condition.wait": """
        cond = threading.Condition()
        def waiter():
            with cond: cond.wait()
        t = threading.Thread(target=waiter, name="waiter"); t.start()
        while not cond._waiters: time.sleep(0.0005)
        with cond: cond.notify()
        t.join()
    """,
    "Event.wait": """
        event = threading.Event()
        t = threading.Thread(target=lambda: event.wait(), name="waiter"); t.start()
        while not event._cond._waiters: time.sleep(0.0005)
        event.set(); t.join()
    """,
    "Semaphore.acquire": """
        semaphore = threading.Semaphore(0)
        def waiter(): semaphore.acquire()
        t = threading.Thread(target=waiter, name="waiter"); t.start()
        while not semaphore._cond._waiters: time.sleep(0.0005)
        semaphore.release(); t.join()
    """,
    "Barrier.wait": """
        barrier = threading.Barrier(2)
        t = threading.Thread(target=lambda: barrier.wait(), name="waiter"); t.start()
        while not barrier._cond._waiters: time.sleep(0.0005)
        barrier.wait(); t.join()
    """,
    "Queue.get": """
        box = queue.Queue()
        t = threading.Thread(target=lambda: box.get(), name="waiter"); t.start()
        while not box.not_empty._waiters: time.sleep(0.0005)
        box.put(1); t.join()
    """,
    "Queue.put": """
        box = queue.Queue(maxsize=1)
        box.put(0)
        t = threading.Thread(target=lambda: box.put(1), name="waiter"); t.start()
        while not box.not_full._waiters: time.sleep(0.0005)
        box.get(); t.join()
    """,
    "Queue.join": """
        box = queue.Queue()
        box.put(0)
        t = threading.Thread(target=lambda: box.join(), name="waiter"); t.start()
        while not box.all_tasks_done._waiters: time.sleep(0.0005)
        box.task_done(); t.join()
    """,
    "SimpleQueue.get": """
        box = queue.SimpleQueue()
        started = threading.Event()
        def waiter():
            started.set(); box.get()
        t = threading.Thread(target=waiter, name="waiter"); t.start()
        started.wait()
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline: time.sleep(0.001)
        box.put(1); t.join()
    """,
    "Future.result": """
        from concurrent.futures import ThreadPoolExecutor
        free = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            box = pool.submit(free.wait)
            t = threading.Thread(target=lambda: box.result(), name="waiter"); t.start()
            while not box._condition._waiters: time.sleep(0.0005)
            free.set(); t.join()
    """,
    "Thread.join": """
        free = threading.Event()
        held = threading.Thread(target=free.wait, name="held"); held.start()
        def waiter(): held.join()
        t = threading.Thread(target=waiter, name="waiter"); t.start()
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline: time.sleep(0.001)
        free.set(); t.join()
    """,
    "Lock.acquire": """
        lock = threading.Lock()
        def waiter():
            lock.acquire(); lock.acquire()
        t = threading.Thread(target=waiter, name="waiter"); t.start()
        until_waited(lock)
        lock.release(); t.join()
    """,
}


@pytest.mark.parametrize("kind", WAITS)
def test_kind_object_and_place(tmp_path: Path, kind: str) -> None:
    """Each kind of wait is one slice on the waiter's track, with the object's name, and no contention."""
    recorded = record_program(tmp_path, WAITS[kind])
    assert recorded.exit_code == 0, recorded.stderr
    (wait,) = [piece for piece in recorded.named(f"wait {kind}") if piece.thread == "waiter"]
    assert wait.category == "wait"
    assert wait.args["result"] == "acquired"
    assert wait.dur > 0
    assert "prog.py:" in wait.args["site"]
    # Around the wait it may meet others at the condition's lock: that is real contention, for another lock.
    same_lock = [p for p in recorded.contentions if p.args["lock_id"] == wait.args.get("lock_id")]
    assert same_lock == []
    if kind not in ("Thread.join", "Lock.acquire"):
        variable = kind.partition(".")[0].lower()
        name = (
            "box" if variable in ("queue", "simplequeue", "future") else variable.replace("condition", "cond")
        )
        assert wait.args["object"].startswith(f"{name} (prog.py:"), wait.args


def test_a_wait_that_times_out_says_so(tmp_path: Path) -> None:
    """The slice ends with result "timeout"; the program sees the original's answer."""
    source = """
        event, box = threading.Event(), queue.SimpleQueue()
        print(event.wait(0.01))
        try: box.get(timeout=0.01)
        except queue.Empty: print("empty")
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "False\nempty\n"
    results = {p.name: p.args["result"] for p in recorded.named("wait ") if p.thread == "MainThread"}
    assert results == {"wait Event.wait": "timeout", "wait SimpleQueue.get": "timeout"}


def test_items_that_are_there_cost_no_slice(tmp_path: Path) -> None:
    """A get that need not wait leaves nothing in the trace."""
    source = """
        box = queue.SimpleQueue()
        box.put(1); print(box.get(), box.qsize(), type(box).__name__, type(box).__module__)
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "1 0 SimpleQueue _queue\n"
    assert recorded.named("wait SimpleQueue") == []


def test_a_thread_whose_target_waits_is_named_after_the_target(tmp_path: Path) -> None:
    """A thread that runs Event.wait itself waits in Event.wait, not in what starts threads."""
    source = """
        event = threading.Event()
        t = threading.Thread(target=event.wait, name="waiter"); t.start()
        while not event._cond._waiters: time.sleep(0.0005)
        event.set(); t.join()
    """
    recorded = record_program(tmp_path, source)
    (wait,) = [piece for piece in recorded.named("wait ") if piece.thread == "waiter"]
    assert wait.name == "wait Event.wait"
    assert wait.args["object"] == "event (prog.py:15)"
    assert "Event.wait()(threading.py:" in wait.args["site"]
