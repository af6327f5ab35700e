"""A front with the interface of sched.scheduler, on a looper."""

import heapq
import itertools
import math
import threading
from collections.abc import Callable, Mapping
from sched import Event
from typing import Any

from unjank import _looper as native
from unjank._errors import LooperError
from unjank.looper._handler import Handler, require_handler


class _Turn(native.Task):
    """One message of the looper: the turn of whichever event is first then."""

    def __init__(self, scheduler: "LooperScheduler", event: Event) -> None:
        self._scheduler = scheduler
        self._event = event

    def __call__(self) -> None:
        self._scheduler._run_first()

    def dropped(self) -> None:
        self._scheduler._drop(self._event)


class LooperScheduler:
    """Like `sched.scheduler`, but events run on a looper's thread, whether or not anybody calls `run()`.

    Differences: the clock is the looper's; what an action raises goes to the looper's exception hook, not to
    `run()`; when the looper quits, what is left is gone.

    Args:
        handler: Whose looper runs the events.
    """

    def __init__(self, handler: Handler) -> None:
        require_handler(handler, "LooperScheduler")
        self._handler = handler
        self._changed = threading.Condition()
        self._heap: list[Event] = []
        self._turns: dict[int, native.Posted] = {}
        self._sequence = itertools.count()

    def enterabs(
        self,
        time: float,
        priority: float,
        action: Callable[..., Any],
        argument: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Event:
        """Runs action(*argument, **kwargs) at `time`; of those of one time, the lowest priority number first.

        Returns:
            The event, for `cancel()`. If the looper has quit it is not in the queue.
        """
        event = Event(time, priority, next(self._sequence), action, argument, dict(kwargs or {}))
        with self._changed:
            heapq.heappush(self._heap, event)
        posted = self._handler.schedule(_Turn(self, event), time - self._handler.looper.now())
        with self._changed:
            if not posted:
                self._remove(event)
            elif event in self._heap:
                self._turns[event.sequence] = posted
        return event

    def enter(
        self,
        delay: float,
        priority: float,
        action: Callable[..., Any],
        argument: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Event:
        """The same after `delay` seconds."""
        return self.enterabs(self._handler.looper.now() + delay, priority, action, argument, kwargs)

    def cancel(self, event: Event) -> None:
        """Takes the event out of the queue.

        Raises:
            ValueError: It is not there: it ran, or was cancelled.
        """
        with self._changed:
            if event not in self._heap:
                raise ValueError("the event is not in the queue: it ran, runs, or was cancelled")
            turn = self._turns.get(event.sequence)
            self._remove(event)
        if turn is not None:
            turn.cancel()

    def empty(self) -> bool:
        """Whether the queue is empty."""
        with self._changed:
            return not self._heap

    @property
    def queue(self) -> list[Event]:
        """The events in the order in which they will run."""
        with self._changed:
            return sorted(self._heap, key=_order)

    def run(self, blocking: bool = True) -> float | None:
        """Returns when the queue is empty; from the looper's thread, runs the looper until then.

        Args:
            blocking: False: does not wait for what is not due yet.

        Returns:
            Not blocking: seconds until the next event is due; None if there is none.

        Raises:
            LooperError: Called by something that the looper runs.
        """
        if self._handler.looper.is_current_thread():
            self._run_here(math.inf if blocking else 0.0)
        elif blocking:
            with self._changed:
                self._changed.wait_for(lambda: not self._heap)
        with self._changed:
            return max(0.0, self._heap[0].time - self._handler.looper.now()) if self._heap else None

    def _run_here(self, limit: float) -> None:
        looper = self._handler.looper
        if looper._running:
            raise LooperError(
                "the looper runs already, and the events with it; call run() from another thread"
            )
        while not self.empty():
            if not looper._step(limit) and limit == 0:
                return

    def _run_first(self) -> None:
        with self._changed:
            if not self._heap:
                return
            event = self._heap[0]
            self._remove(event)
        event.action(*event.argument, **event.kwargs)

    def _drop(self, event: Event) -> None:
        with self._changed:
            if event in self._heap:
                self._remove(event)

    def _remove(self, event: Event) -> None:
        self._heap.remove(event)
        heapq.heapify(self._heap)
        self._turns.pop(event.sequence, None)
        self._changed.notify_all()


def _order(event: Event) -> tuple[float, float, int]:
    return event.time, event.priority, event.sequence
