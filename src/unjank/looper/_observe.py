"""Who is told of slow dispatches and of exceptions."""

import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unjank.looper._handler import Handler
    from unjank.looper._looper_class import Looper


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One run of one message.

    Attributes:
        looper: On which looper.
        handler: Whose message; None for one that C code posted, and for idle handlers and listeners.
        callback: What was called; None if the handler's `handle_message()` was.
        what: The message's code; 0 for callbacks.
        when: When it was due, in seconds of the looper's clock; when it began, for a callback whose post
            had no need to read the clock.
    """

    looper: "Looper"
    handler: "Handler | None"
    callback: Callable[..., object] | None
    what: int
    when: float

    def __str__(self) -> str:
        if self.callback is not None:
            called = getattr(self.callback, "__wrapped__", self.callback)
            return f"callback {getattr(called, '__qualname__', repr(called))}"
        return f"message {self.what} to {type(self.handler).__qualname__}"


ExceptionHook = Callable[[BaseException, Dispatch], object]


class LooperObserver:
    """Base of observers: override what you want to know of. Called on the looper's thread after the dispatch.

    Attributes:
        slow_delivery: From how many seconds after its due time on a message counts as late; None: not asked.
        slow_dispatch: From how many seconds on a dispatch counts as long; None: not asked.
    """

    slow_delivery: float | None = None
    slow_dispatch: float | None = None

    def on_slow_delivery(self, dispatch: Dispatch, late: float) -> None:
        """The dispatch began `late` seconds after it was due."""

    def on_slow_dispatch(self, dispatch: Dispatch, took: float) -> None:
        """The dispatch ran for `took` seconds."""


class Observers:
    """The observers of one looper. Without any, dispatches are not timed."""

    def __init__(self, looper: "Looper") -> None:
        self._set_thresholds = looper._set_thresholds
        self._lock = threading.Lock()
        self._observers: tuple[LooperObserver, ...] = ()

    def add(self, observer: LooperObserver) -> None:
        """Adds one; its thresholds are read now."""
        if not isinstance(observer, LooperObserver):
            kind = observer.__name__ if isinstance(observer, type) else type(observer).__name__
            raise TypeError(f"add_observer() needs an instance of a LooperObserver, not {kind}")
        with self._lock:
            self._replace((*self._observers, observer))

    def remove(self, observer: LooperObserver) -> bool:
        """Removes one; whether it was there."""
        with self._lock:
            left = tuple(other for other in self._observers if other is not observer)
            found = len(left) != len(self._observers)
            self._replace(left)
        return found

    def _replace(self, observers: tuple[LooperObserver, ...]) -> None:
        deliveries = [o.slow_delivery for o in observers if o.slow_delivery is not None]
        dispatches = [o.slow_dispatch for o in observers if o.slow_dispatch is not None]
        self._set_thresholds(min(deliveries, default=None), min(dispatches, default=None))
        self._observers = observers

    def report(self, dispatch: Dispatch, late_s: float, took_s: float) -> None:
        """Tells each observer whose threshold was reached."""
        for observer in self._observers:
            if observer.slow_delivery is not None and late_s >= observer.slow_delivery:
                observer.on_slow_delivery(dispatch, late_s)
            if observer.slow_dispatch is not None and took_s >= observer.slow_dispatch:
                observer.on_slow_dispatch(dispatch, took_s)


def print_exception(raised: BaseException, dispatch: Dispatch) -> None:
    """The hook that loopers start with: the traceback on stderr, with the way to other hooks."""
    if sys.stderr is None:
        return
    print(  # noqa: T201  stderr is where uncaught exceptions go
        f"Exception in looper {dispatch.looper.name!r}, {dispatch}; the loop goes on. "
        "Set looper.exception_hook to handle such.",
        file=sys.stderr,
    )
    traceback.print_exception(raised, file=sys.stderr)
