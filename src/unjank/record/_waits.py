"""Waits that no lock of ours sees: `Thread.join` and `SimpleQueue.get` block inside CPython."""

import _queue
import threading
from typing import Any

from unjank import _record


class SimpleQueue(_queue.SimpleQueue):  # type: ignore[type-arg]  # generic only for type checkers
    """`queue.SimpleQueue` whose waiting `get` is in the trace."""

    __slots__ = ("_unjank_name",)
    _unjank_name: int

    def __new__(cls) -> "SimpleQueue":
        """Makes the queue and remembers what it is called."""
        self = super().__new__(cls)
        self._unjank_name = _record.creation_name("SimpleQueue")
        return self

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: ANN401  items are the user's
        """As the original's; only a wait for an empty queue costs more."""
        if not block or not self.empty() or not _record.begin_wait("SimpleQueue.get", self._unjank_name):
            return super().get(block, timeout)
        result = "interrupted"
        try:
            item = super().get(block, timeout)
            result = "acquired"
            return item
        except _queue.Empty:
            result = "timeout"
            raise
        finally:
            _record.end_wait(result)


# What a program sees of the class is the original.
SimpleQueue.__module__ = _queue.SimpleQueue.__module__
SimpleQueue.__doc__ = _queue.SimpleQueue.__doc__

_original_join = threading.Thread.join


def join(self: threading.Thread, timeout: float | None = None) -> None:
    """`threading.Thread.join` whose wait is in the trace."""
    waits = self.ident is not None and self is not threading.current_thread() and self.is_alive()
    if not waits or not _record.begin_join(self.native_id or 0):
        _original_join(self, timeout)
        return
    result = "interrupted"
    try:
        _original_join(self, timeout)
        result = "timeout" if self.is_alive() else "acquired"
    finally:
        _record.end_wait(result)
