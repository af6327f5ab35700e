"""The cast of launcher_jank.py on a looper: the same work, and no lock for anybody to hold.

The UI thread is a looper that draws 60 frames a second. BackgroundExecutor, at low priority, prepares its
bookkeeping and posts the result; the camera threads take the CPU away from it as before. It is as late as
before, and the UI thread does not notice: a post takes no lock, so nobody can be kept waiting by one who does
not run.

All on one core, as on a phone whose other cores are busy. The work is hashing, which lets go of the GIL.
"""

import hashlib
import os
import sys
import threading
import time

from unjank import Handler, HandlerThread

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


class Ui:
    """Draws frames on its looper, and counts those that came too late."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._deadline = 0.0
        self.frames = 0
        self.missed = 0
        self.longest_stall_s = 0.0
        self.thumbnails = 0

    def begin(self) -> None:
        """Draws the first frame one frame time from now."""
        set_nice(-10)
        self._deadline = time.monotonic() + FRAME_S
        self._handler.post_at(self._draw, self._deadline)

    def _draw(self) -> None:
        # As in launcher_jank.py: all that kept the frame from being drawn in time.
        self.longest_stall_s = max(self.longest_stall_s, time.monotonic() - self._deadline)
        work(1)
        self.frames += 1
        self.missed += int((time.monotonic() - self._deadline) / FRAME_S)
        self._deadline = max(self._deadline + FRAME_S, time.monotonic())
        self._handler.post_at(self._draw, self._deadline)

    def show_thumbnail(self) -> None:
        """The non-urgent message."""
        self.thumbnails += 1


class Picture:
    """One picture: the executor posts its bookkeeping while the camera threads process it."""

    def __init__(self, ui: Ui, handler: Handler) -> None:
        self._ui = ui
        self._handler = handler
        self._preparing = threading.Event()

    def _bookkeeping(self) -> None:
        set_nice(15)
        self._preparing.set()
        work(4)
        self._handler.post(self._ui.show_thumbnail)

    def _process(self) -> None:
        self._preparing.wait()
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
    with HandlerThread("ui") as thread:
        handler = Handler(thread.looper)
        ui = Ui(handler)
        handler.post(ui.begin)
        for _ in range(PICTURES):
            Picture(ui, handler).take()
            time.sleep(PICTURE_EVERY_S)
    print(f"{ui.frames} frames drawn, {ui.missed} missed, longest stall {ui.longest_stall_s * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
