"""Ctrl-C while native code is at work: Python sees it only when that returns, which may take minutes."""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_GRACE_SECONDS = 0.5
_EXIT_INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it


@contextmanager
def interruptible(before_exit: Callable[[], None]) -> Iterator[None]:
    """Ends the process on Ctrl-C if the block does not end by itself within half a second.

    Only in the main thread, and only where nobody else has set a wake-up descriptor; elsewhere Ctrl-C works
    as Python makes it work.

    Args:
        before_exit: cleans up; called in another thread, right before the process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signalled, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    watcher = threading.Thread(
        target=_watch, args=(signalled, before_exit), name="unjank interrupt", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(wake)  # ends the watcher
        watcher.join()
        os.close(signalled)


def _watch(signalled: int, before_exit: Callable[[], None]) -> None:
    while received := os.read(signalled, 1):
        if received[0] != signal.SIGINT:
            continue
        # The pipe's end of file says that the block was left in time.
        left_in_time, _, _ = select.select([signalled], [], [], _GRACE_SECONDS)
        if not left_in_time:
            before_exit()
            os._exit(_EXIT_INTERRUPTED)
