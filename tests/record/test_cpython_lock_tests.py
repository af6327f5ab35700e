"""CPython's own tests of locks, on ours."""

import threading
import unittest
from collections.abc import Iterator

import pytest

from unjank import _record
from unjank.record._patch import Patch

lock_tests = pytest.importorskip(
    "test.lock_tests", reason="this Python comes without its own tests (Debian: libpython3-testsuite)"
)


@pytest.fixture(autouse=True)
def recorded_locks() -> Iterator[None]:
    """Everything that makes a lock makes one of ours."""
    patch = Patch()
    patch.install()
    try:
        yield
    finally:
        patch.uninstall()


class TestLock(lock_tests.LockTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Lock."""

    locktype = staticmethod(_record.allocate_lock)


class TestRLock(lock_tests.RLockTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """RLock."""

    locktype = staticmethod(_record.RLock)


class TestEvent(lock_tests.EventTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Event over our Lock."""

    eventtype = staticmethod(threading.Event)


class TestCondition(lock_tests.ConditionTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Condition over our RLock."""

    condtype = staticmethod(threading.Condition)


class TestConditionAsRLock(lock_tests.RLockTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Condition's default lock is an RLock."""

    locktype = staticmethod(threading.Condition)

    def test_recursion_count(self) -> None:
        """A condition has no recursion count of its own."""
        raise unittest.SkipTest(
            "Condition does not expose _recursion_count, CPython's own suite skips it too"
        )


class TestSemaphore(lock_tests.SemaphoreTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Semaphore over our Lock."""

    semtype = staticmethod(threading.Semaphore)


class TestBoundedSemaphore(lock_tests.BoundedSemaphoreTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """BoundedSemaphore over our Lock."""

    semtype = staticmethod(threading.BoundedSemaphore)


class TestBarrier(lock_tests.BarrierTests):  # type: ignore[misc,name-defined]  # `test` has no types
    """Barrier over our Lock."""

    barriertype = staticmethod(threading.Barrier)
