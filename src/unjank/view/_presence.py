"""Whether anybody looks: a tab holds a connection open, and a reload is not a farewell."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Presence:
    """Counts the open tabs.

    Args:
        grace_seconds: How long after the last tab went another may come, as after a reload.
    """

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self._changed = Condition()
        self._tabs = 0
        self._arrivals = 0  # all there ever were: one that has gone again is not missed

    @contextmanager
    def tab(self) -> Iterator[None]:
        """Counts one tab while the block runs; from any thread."""
        with self._changed:
            self._tabs += 1
            self._arrivals += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._tabs -= 1
                self._changed.notify_all()

    def wait_until_left(self) -> None:
        """Returns when there was a tab and there is none any more. Ctrl-C interrupts it."""
        with self._changed:
            self._changed.wait_for(lambda: self._arrivals > 0)
            while not self._is_deserted():
                pass

    def _is_deserted(self) -> bool:
        """Waits until no tab is open; True if none comes within the grace time."""
        self._changed.wait_for(lambda: self._tabs == 0)
        before = self._arrivals
        return not self._changed.wait_for(lambda: self._arrivals > before, self._grace_seconds)
