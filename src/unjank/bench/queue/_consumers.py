"""Threads that consume, for the peers and for loopers."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from unjank import Looper


@contextmanager
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


@contextmanager
def parked_looper() -> Iterator[Looper]:
    """A looper that takes posts and runs none, as a queue that nobody reads.

    Its thread ends with the block, and drops what is pending.
    """
    made: list[Looper] = []
    there, over = threading.Event(), threading.Event()

    def hold() -> None:
        made.append(Looper.prepare())
        there.set()
        over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    there.wait()
    try:
        yield made[0]
    finally:
        made.clear()
        over.set()
        thread.join()
