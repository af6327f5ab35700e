"""Threads that consume, for the peers and for loopers."""

import asyncio
import contextlib
import queue
import sys
import threading
from collections.abc import Iterator

from unjank import Handler, Looper


@contextlib.contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An asyncio event loop that runs on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class ParkedLooper:
    """A looper that takes posts and runs none until it is told to, as a queue that nobody reads yet.

    A context manager; at its end the thread ends and drops what is pending.
    """

    def __init__(self) -> None:
        self._told: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Looper] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._hold)

    def __enter__(self) -> Looper:
        self._thread.start()
        return self._answers.get()

    def __exit__(self, *raised: object) -> None:
        self._told.put(False)
        self._thread.join()

    def drain(self) -> None:
        """Runs all that is due; returns when it has run."""
        self._told.put(True)
        self._answers.get()

    def _hold(self) -> None:
        looper = Looper.prepare()
        handler = Handler(looper)
        self._answers.put(looper)
        while self._told.get():
            handler.post(sys.exit)
            with contextlib.suppress(SystemExit):  # leaves the loop, which may be run again
                looper.run()
            self._answers.put(looper)
