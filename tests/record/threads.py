"""Helpers for tests that use threads: an exception in a worker is the test's."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def run_in_thread(function: Callable[[], T]) -> T:
    """Runs the function in a thread of its own; answers its value, or raises its exception here."""
    values: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            values.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return values[0]
