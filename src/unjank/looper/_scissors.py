"""Posting and waiting for the end."""

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from unjank import _looper as native

if TYPE_CHECKING:
    from unjank.looper._handler import Handler


class Scissors(native.Task):
    """A callback that somebody waits for."""

    this_thread = staticmethod(threading.get_ident)

    def __init__(self, callback: Callable[[], object]) -> None:
        self.__wrapped__ = callback  # what reports name
        self._ended = threading.Event()
        self._ran = False
        self._raised: BaseException | None = None

    def __call__(self) -> None:
        """Runs it; on the looper's thread. Whatever it raises is the waiter's."""
        try:
            self.__wrapped__()
            self._ran = True
        except BaseException as raised:
            self._raised = raised
        finally:
            self._ended.set()

    def dropped(self) -> None:
        """Lets the waiter go: the looper quit."""
        self._ended.set()

    def run_on(self, handler: "Handler", timeout: float | None) -> bool:
        """Posts and waits; whether it ran."""
        limit = None if timeout is None else _wait_limit(timeout)
        if not handler.post(self):
            return False
        if not self._ended.wait(limit):
            handler.remove_callbacks(self)
            return False
        if self._raised is not None:
            raise self._raised
        return self._ran


def _wait_limit(timeout: float) -> float:
    if not isinstance(timeout, int | float):
        raise TypeError(f"timeout must be a number of seconds, not {type(timeout).__name__}")
    if math.isnan(timeout):
        raise ValueError("timeout is not a number (NaN); give seconds, or None for as long as it takes")
    return min(timeout, threading.TIMEOUT_MAX)
