"""Python's signal handlers wait while native code is at work that cannot pass their exceptions on.

Python runs the handler of a signal that came during native code at its next bytecode. That is the first one
of the binding's callback, outside of its `try`: what the handler raises there, KeyboardInterrupt above all,
is printed and dropped, the native code gets no result, and the process crashes.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

T = TypeVar("T")
_Handler = Callable[[int, FrameType | None], Any]

_SIGNALS = sorted(signal.valid_signals())


class HeldSignals:
    """Inside the `with` block handlers written in Python are put off, to its end or to the next `run`.

    Does something in the main thread only: others never run handlers. A signal that comes while the block is
    entered or left may leave a stand-in behind; that one passes all on, and goes the next time.
    """

    def __init__(self) -> None:
        self._holding = False
        self._handlers: dict[int, _Handler] = {}
        self._came: list[tuple[_Handler, int, FrameType | None]] = []

    def __enter__(self) -> None:
        """Puts a stand-in in the place of each handler."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and handler != self._stand_in:
                self._handlers[number] = handler
                signal.signal(number, self._stand_in)
        self._holding = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Puts the handlers back; those that were put off run with the next `run`."""
        self._holding = False
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._stand_in:
                signal.signal(number, handler)
        self._handlers.clear()

    def run(self, body: Callable[..., T], *arguments: object) -> T:
        """Runs the handlers that were put off, then the body, in which handlers run at once."""
        holding, self._holding = self._holding, False
        try:
            self.deliver()
            return body(*arguments)
        finally:
            self._holding = holding

    def deliver(self) -> None:
        """Runs the handlers that were put off; raises what they raise."""
        while self._came:
            handler, number, frame = self._came.pop(0)
            handler(number, frame)

    def _stand_in(self, number: int, frame: FrameType | None) -> None:
        handler = self._handlers[number]
        if self._holding:
            self._came.append((handler, number, frame))
        else:
            handler(number, frame)
