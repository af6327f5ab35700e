"""A UI thread that stalls because a background thread holds its queue's lock and does not get to run.

The cast is that of a Launcher's main thread after a picture was taken. The UI thread draws 60 frames a
second and takes its messages from a queue with one lock. BackgroundExecutor, at low priority, holds that
lock while it posts non-urgent work. Camera threads of middle priority take the CPU away from it. So the most
urgent thread waits for the least urgent one, which waits for those in the middle: a priority inversion.

All on one core, as on a phone whose other cores are busy. The work is hashing, which lets go of the GIL.
"""

import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable

FRAME_S = 1 / 60
PICTURES = 6
PICTURE_EVERY_S = 0.4
CAMERA_THREADS = 3
CAMERA_BUFFERS = 40
BUFFER = bytes(1 << 20)


def work(buffers: int) -> None:
    """Uses the CPU without the GIL."""
    for _ in range(buffers):
        hashlib.sha256(BUFFER).digest()


class MessageQueue:
    """Messages in order of their due time, under one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages: list[tuple[float, str]] = []

    def post(self, message: str, due: float, prepare: Callable[[], None] = lambda: None) -> None:
        """Inserts a message; prepares it with the lock held, which is the mistake."""
        with self._lock:
            prepare()
            self._messages.append((due, message))
            self._messages.sort()

    def take_due(self, now: float) -> list[str]:
        """Removes and returns the messages whose time has come."""
        with self._lock:
            due = [message for when, message in self._messages if when <= now]
            self._messages = self._messages[len(due) :]
        return due


class UiThread(threading.Thread):
    """Draws frames, and counts those that came too late."""

    def __init__(self, messages: MessageQueue) -> None:
        super().__init__(name="ui")
        self._messages = messages
        self._stopped = threading.Event()
        self.frames = 0
        self.missed = 0
        self.longest_stall_s = 0.0

    def run(self) -> None:
        """Draws until stopped."""
        set_nice(-10)
        deadline = time.monotonic() + FRAME_S
        while not self._stopped.is_set():
            time.sleep(max(0.0, deadline - time.monotonic()))
            self._draw(deadline)
            deadline = max(deadline + FRAME_S, time.monotonic())

    def _draw(self, due: float) -> None:
        self._messages.take_due(time.monotonic())
        # All that kept the frame from being drawn in time: the wait for the lock, nearly always.
        self.longest_stall_s = max(self.longest_stall_s, time.monotonic() - due)
        work(1)
        self.frames += 1
        self.missed += int((time.monotonic() - due) / FRAME_S)

    def stop(self) -> None:
        """Ends the thread after its current frame."""
        self._stopped.set()
        self.join()


class Picture:
    """One picture: the executor posts its bookkeeping while the camera threads process it."""

    def __init__(self, messages: MessageQueue) -> None:
        self._messages = messages
        self._lock_is_held = threading.Event()

    def _bookkeeping(self) -> None:
        set_nice(15)

        def prepare() -> None:
            self._lock_is_held.set()
            work(4)

        self._messages.post("thumbnail ready", time.monotonic(), prepare)

    def _process(self) -> None:
        self._lock_is_held.wait()
        work(CAMERA_BUFFERS)

    def take(self) -> None:
        """Takes the picture and waits until all is done."""
        threads = [threading.Thread(target=self._bookkeeping, name="BackgroundExecutor")]
        threads += [threading.Thread(target=self._process, name=f"camera-{n}") for n in range(CAMERA_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def set_nice(nice: int) -> None:
    """Sets the calling thread's priority; raising it needs rights that the demo can do without."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
    except PermissionError:
        print(f"no right to set nice {nice}; going on with what there is", file=sys.stderr)


def main() -> None:
    """Takes some pictures while the UI thread draws."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    messages = MessageQueue()
    ui = UiThread(messages)
    ui.start()
    for _ in range(PICTURES):
        Picture(messages).take()
        time.sleep(PICTURE_EVERY_S)
    ui.stop()
    print(f"{ui.frames} frames drawn, {ui.missed} missed, longest stall {ui.longest_stall_s * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
