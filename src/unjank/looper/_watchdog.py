"""A thread that tells when a looper is stuck, and where."""

import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from unjank._errors import LooperError
from unjank.looper._looper_class import Looper

_LOOKS_PER_LIMIT = 4


@dataclass(frozen=True, slots=True)
class Stall:
    """A dispatch that lasts too long.

    Attributes:
        looper: Where.
        seconds: For how long it has been seen to run, at least.
        stack: The looper thread's Python stack at this moment, innermost call last; as in a traceback.
    """

    looper: Looper
    seconds: float
    stack: str

    def __str__(self) -> str:
        return f"looper {self.looper.name!r} has been in one dispatch for {self.seconds:.3g} s:\n{self.stack}"


def print_stall(stall: Stall) -> None:
    """Prints it on stderr."""
    if sys.stderr is not None:
        print(stall, file=sys.stderr)  # noqa: T201  a report for people


class StallDetector:
    """Compares a looper's dispatch counter between looks; costs the looper nothing."""

    def __init__(self, looper: Looper, limit: float) -> None:
        self._looper = looper
        self._limit = limit
        self._seen = -1
        self._since = 0.0
        self._reported = -1

    def look(self, now: float) -> Stall | None:
        """A stall, the first time that the present dispatch has lasted for the limit."""
        count = self._looper._dispatches
        if count != self._seen:
            self._seen, self._since = count, now
        running = count % 2 == 1
        if not running or now - self._since < self._limit or self._reported == count:
            return None
        self._reported = count
        return Stall(self._looper, now - self._since, _stack_of(self._looper))


class Watchdog:
    """Watches a looper from a thread of its own; reports each dispatch that lasts too long, once.

    Use it in a with, or start() and stop() it. It ends by itself when the looper's loop has.

    Args:
        looper: Whom to watch.
        limit: Seconds; a stall is seen at most a quarter of that late.
        report: Called with the `Stall`, on the watchdog's thread; prints on stderr by default.
    """

    def __init__(
        self, looper: Looper, limit: float = 5.0, report: Callable[[Stall], object] = print_stall
    ) -> None:
        if not isinstance(looper, Looper):
            raise TypeError(
                f"Watchdog() needs a Looper, not {type(looper).__name__}; of a HandlerThread its .looper"
            )
        if not limit > 0:
            raise LooperError(f"a watchdog's limit must be more than 0 seconds, not {limit}")
        self._detector = StallDetector(looper, limit)
        self._looper = looper
        self._interval = limit / _LOOKS_PER_LIMIT
        self._report = report
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"watchdog of {looper.name}", daemon=True)

    def start(self) -> None:
        """Begins to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and waits for it, unless a report calls this."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval) and not self._looper.closed:
            stall = self._detector.look(time.monotonic())
            if stall is not None:
                self._report(stall)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _stack_of(looper: Looper) -> str:
    frame = sys._current_frames().get(looper.thread_id)
    return "".join(traceback.format_stack(frame)) if frame is not None else "  (no Python frame)\n"
