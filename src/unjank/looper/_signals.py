"""Ctrl-C and other signals end a looper's sleep on the main thread.

A signal may arrive between the last look for signals and the sleep; then no system call is interrupted. So
Python's C-level handler is told to write to a descriptor that the looper sleeps on.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unjank.looper._looper_class import Looper

_SIGNAL_ID = 0  # kSignalId in bindings/looper/run_loop.h
_READABLE = 1


@contextmanager
def wake_on_signals(looper: "Looper") -> Iterator[None]:
    """While inside, signals wake the looper, if this is the main thread."""
    if threading.current_thread() is not threading.main_thread() or looper.closed or looper._running:
        yield
        return
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    previous = -1
    try:
        previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        if previous != -1:
            # Somebody listens already (an asyncio loop): theirs stays. A signal interrupts the sleep even so,
            # since it is one beside a descriptor: one in a futex goes on after siginterrupt(signal, False).
            signal.set_wakeup_fd(previous)
        looper._listen(reader, _READABLE, _SIGNAL_ID)
        looper._set_signal_fd(reader)
        yield
    finally:
        if previous == -1:
            signal.set_wakeup_fd(-1)
        looper._set_signal_fd(-1)
        if not looper.closed:
            looper._forget(reader)
        os.close(reader)
        os.close(writer)
