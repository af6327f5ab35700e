"""The recorded lock types behave as CPython's own."""

import _thread
import copy
import gc
import os
import pickle
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.record.threads import run_in_thread

from unjank import _record

_original_lock = threading.Lock
_original_rlock = threading._CRLock  # type: ignore[attr-defined]  # the C type behind the factory

PAIRS = [
    pytest.param(_record.allocate_lock, _original_lock, id="Lock"),
    pytest.param(_record.RLock, _original_rlock, id="RLock"),
]


def outcome(call: Callable[[], Any]) -> tuple[str, str]:
    """What a call answers or raises, comparable between two types."""
    try:
        return ("value", repr(call()))
    except Exception as error:
        return (type(error).__name__, str(error))


ACQUIRE_ARGUMENTS = [
    ((), {}),
    ((True,), {}),
    ((False,), {}),
    ((0,), {}),
    ((1, 0.01), {}),
    ((), {"blocking": False}),
    ((), {"timeout": 0.01}),
    ((), {"timeout": 1}),
    ((), {"timeout": -1}),
    ((), {"timeout": -1.0}),
    ((), {"timeout": -2}),
    ((), {"timeout": -0.5}),
    ((False, 1), {}),
    ((), {"blocking": False, "timeout": 0}),
    ((), {"timeout": threading.TIMEOUT_MAX + 1}),
    ((), {"timeout": 1e100}),
    ((), {"timeout": 1 << 100}),
    ((), {"timeout": float("nan")}),
    ((), {"timeout": "1"}),
    ((), {"timeout": None}),
    (("x",), {}),
    ((), {"bogus": 1}),
    ((True,), {"blocking": True}),
    ((1, 2, 3), {}),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize(("args", "kwargs"), ACQUIRE_ARGUMENTS)
def test_acquire_takes_and_refuses_the_same_arguments(
    ours: Callable[[], Any], theirs: Callable[[], Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Every form of the arguments gives the original's answer, or its exception type and text."""
    assert outcome(lambda: ours().acquire(*args, **kwargs)) == outcome(
        lambda: theirs().acquire(*args, **kwargs)
    )


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_same_text_for_release_of_a_free_lock(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Releasing what is not taken raises the original's RuntimeError."""
    assert outcome(lambda: ours().release()) == outcome(lambda: theirs().release())


@pytest.mark.parametrize("operation", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_same_text_for_what_cannot_be_copied(
    ours: Callable[[], Any], theirs: Callable[[], Any], operation: Callable[[Any], Any]
) -> None:
    """Pickling and copying fail with the original's message."""
    assert outcome(lambda: operation(ours())) == outcome(lambda: operation(theirs()))


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_repr_reads_like_the_originals(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Free and taken locks print the same, but for the address."""

    def shown(make: Callable[[], Any]) -> list[str]:
        lock = make()
        texts = [repr(lock)]
        lock.acquire()
        texts.append(repr(lock))
        return [text.rpartition(" at ")[0] for text in texts]

    assert shown(ours) == shown(theirs)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_same_public_names(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """The twin has every attribute of the original, and none more."""
    assert {name for name in dir(theirs()) if not name.startswith("__")} <= set(dir(ours()))
    assert {name for name in dir(ours()) if name[0] != "_"} <= set(dir(theirs())) | {"locked"}


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_subclassing_is_allowed_where_the_original_allows_it(
    ours: Callable[[], Any], theirs: Callable[[], Any]
) -> None:
    """`class X(type(lock))` works for RLock and is a TypeError for Lock."""

    def derive(make: Callable[[], Any]) -> str:
        return type("Derived", (type(make()),), {}).__name__

    assert outcome(lambda: derive(ours))[0] == outcome(lambda: derive(theirs))[0]


@pytest.mark.parametrize(
    ("ours", "theirs"), [(_record.allocate_lock, _thread.allocate_lock), (_record.RLock, _thread.RLock)]
)
def test_what_makes_a_lock_passes_for_the_original(
    ours: Callable[[], Any], theirs: Callable[[], Any]
) -> None:
    """Kind, name and module of the maker; and whether the lock's type makes locks too."""

    def looks(make: Callable[[], Any]) -> tuple[object, ...]:
        made_again = outcome(type(make()))[0]
        return type(make), make.__name__, make.__qualname__, make.__module__, made_again

    assert looks(ours) == looks(theirs)


def test_a_subclass_of_rlock_with_attributes_is_collected() -> None:
    """A cycle through a subclass instance's attributes is found by the collector."""

    class Named(_record.RLock):
        pass

    lock = Named()
    lock.me = lock  # type: ignore[attr-defined]
    gone = weakref.ref(lock)
    del lock
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("make", [_record.allocate_lock, _record.RLock])
def test_weak_references_die_with_the_lock(make: Callable[[], Any]) -> None:
    """A weak reference to a lock answers None once the lock is gone."""
    lock = make()
    reference = weakref.ref(lock)
    assert reference() is lock
    del lock
    gc.collect()
    assert reference() is None


def test_any_thread_may_release_a_lock() -> None:
    """A Lock taken here and released elsewhere is free again."""
    lock = _record.allocate_lock()
    lock.acquire()
    run_in_thread(lock.release)
    assert lock.acquire(blocking=False)


def test_only_the_owner_may_release_an_rlock() -> None:
    """Another thread's release is refused, and the lock stays taken."""
    lock = _record.RLock()
    lock.acquire()
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        run_in_thread(lock.release)
    assert run_in_thread(lambda: lock.acquire(blocking=False)) is False


@pytest.mark.parametrize("make", [_record.allocate_lock, _record.RLock])
def test_mutual_exclusion(make: Callable[[], Any]) -> None:
    """Increments under the lock from several threads are never lost."""
    lock, total = make(), [0]

    def add() -> None:
        for _ in range(5_000):
            with lock:
                value = total[0]
                total[0] = value + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 20_000


@pytest.mark.parametrize("make", [_record.allocate_lock, _record.RLock])
def test_a_signal_handler_runs_while_the_main_thread_waits(make: Callable[[], Any]) -> None:
    """A handler that raises ends the wait, and the lock is not taken by it."""
    lock = make()
    taken, free = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            free.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()

    class HandlerRanError(Exception):
        pass

    def handler(number: int, frame: object) -> None:
        raise HandlerRanError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(HandlerRanError):
            lock.acquire()
    finally:
        signal.signal(signal.SIGALRM, before)
        free.set()
        holder.join()
    assert lock.acquire(blocking=False)


@pytest.mark.parametrize("make", [_record.allocate_lock, _record.RLock])
def test_a_forked_child_can_start_afresh(make: Callable[[], Any]) -> None:
    """`_at_fork_reinit` frees a lock whose owner does not exist in the child."""
    lock = make()
    run_in_thread(lock.acquire)
    child = os.fork()
    if child == 0:
        lock._at_fork_reinit()
        os._exit(0 if lock.acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_rlock_stays_the_forking_threads_in_the_child() -> None:
    """The thread that forks with the lock held still owns it in the child, whose kernel id is new."""
    lock = _record.RLock()
    lock.acquire()
    child = os.fork()
    if child == 0:
        lock.release()
        os._exit(0 if not lock._is_owned() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    lock.release()


OPERATIONS = st.lists(
    st.sampled_from(["acquire", "try", "timeout", "release", "is_owned", "count", "enter_exit", "elsewhere"]),
    max_size=30,
)


def _try_and_give_back(lock: Any) -> bool:
    # Given back in the same thread: the original takes a later thread with the same ident for the owner.
    taken = bool(lock.acquire(blocking=False))
    if taken:
        lock.release()
    return taken


def _apply(lock: Any, operation: str) -> object:
    actions: dict[str, Callable[[], object]] = {
        "acquire": lambda: lock.acquire(blocking=False),
        "try": lambda: lock.acquire(False),
        "timeout": lambda: lock.acquire(timeout=0.0),
        "release": lambda: lock.release(),
        "is_owned": lambda: lock._is_owned(),
        "count": lambda: lock._recursion_count(),
        "enter_exit": lambda: lock.__exit__(None, None, None),
        "elsewhere": lambda: run_in_thread(lambda: _try_and_give_back(lock)),
    }
    return outcome(actions[operation])


@settings(deadline=None, max_examples=60)
@given(OPERATIONS)
def test_any_sequence_on_a_lock_answers_as_the_original(operations: list[str]) -> None:
    """Differential: the same calls on a Lock give the same answers and errors."""
    ours, theirs = _record.allocate_lock(), _original_lock()
    for operation in operations:
        if operation in ("is_owned", "count"):
            continue
        assert _apply(ours, operation) == _apply(theirs, operation), operation


@settings(deadline=None, max_examples=60)
@given(OPERATIONS)
def test_any_sequence_on_an_rlock_answers_as_the_original(operations: list[str]) -> None:
    """Differential: the same calls on an RLock give the same answers and errors."""
    ours, theirs = _record.RLock(), _original_rlock()
    for operation in operations:
        if operation == "count" and not hasattr(theirs, "_recursion_count"):
            continue
        assert _apply(ours, operation) == _apply(theirs, operation), operation


def test_release_save_and_acquire_restore_keep_the_depth() -> None:
    """What Condition.wait does: all levels given up at once and taken again."""
    lock = _record.RLock()
    for _ in range(3):
        lock.acquire()
    saved = lock._release_save()  # type: ignore[attr-defined]
    assert not lock._is_owned()
    lock._acquire_restore(saved)  # type: ignore[attr-defined]
    assert lock._recursion_count() == 3
