"""Signals that must wait: a second Ctrl-C must not stop what the first one began to put back."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_DEFERRED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds back SIGINT, SIGTERM and SIGHUP while the block runs; they are delivered when it is left.

    Only in the main thread; Python runs signal handlers nowhere else.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        arrived.append(number)

    # A handler that was not set from Python is None and cannot be set again: it stays.
    ours = [number for number in _DEFERRED if signal.getsignal(number) is not None]
    before = {number: signal.signal(number, remember) for number in ours}
    try:
        yield
    finally:
        for deferred, handler in before.items():
            signal.signal(deferred, handler)
        for number in arrived:
            signal.raise_signal(number)
