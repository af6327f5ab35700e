"""Looper: the message loop of a thread."""

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

from unjank import _looper as native
from unjank._errors import LooperError
from unjank.looper._dump import describe
from unjank.looper._fds import FdEvent, FdListener, FdListeners
from unjank.looper._observe import Dispatch, ExceptionHook, LooperObserver, Observers, print_exception
from unjank.looper._signals import wake_on_signals

QueueName = Literal["lockfree", "locked"]
IdleHandler = Callable[[], object]


class Looper(native.LooperCore):
    """Runs what is posted to a thread, one message after the other, in order of due time.

    A thread makes its looper with `Looper.prepare()` and runs it with `run()`; `HandlerThread` does both.
    Messages come in through a `Handler`. All times are seconds of `time.monotonic()`.

    Attributes:
        name: For people: the thread's name when it was made.
        exception_hook: Called on the looper's thread with the exception that a callback raised and the
            `Dispatch` it raised in; the loop then goes on. Prints by default.
    """

    _main: ClassVar["weakref.ref[Looper] | None"] = None

    name: str
    exception_hook: ExceptionHook

    def __init__(self, queue: QueueName = "lockfree", *, virtual_clock: bool = False) -> None:
        super().__init__(queue, virtual_clock)
        self.name = threading.current_thread().name
        self.exception_hook = print_exception
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._idle_handlers: list[IdleHandler] = []
        self._listeners = FdListeners(self)
        self._observers = Observers(self)

    # ---- the loopers of threads

    @classmethod
    def prepare(cls, queue: QueueName = "lockfree", *, virtual_clock: bool = False) -> Self:
        """Makes the calling thread's looper.

        Args:
            queue: "lockfree", or "locked" for Android's queue before version 17, to compare with.
            virtual_clock: Time stands still until a `LooperDriver` moves it; for tests.

        Returns:
            The looper; `Looper.current()` on this thread from now on.

        Raises:
            LooperError: The thread has a looper that has not quit.
        """
        if cls.current() is not None:
            raise LooperError("this thread has a looper already; Looper.current() is it")
        looper = cls(queue, virtual_clock=virtual_clock)
        native.set_current_looper(looper)
        if threading.current_thread() is threading.main_thread():
            Looper._main = weakref.ref(looper)
        return looper

    @classmethod
    def current(cls) -> "Looper | None":
        """The calling thread's looper; None if it never had one, or that one's loop has ended."""
        looper: Looper | None = native.current_looper()
        return None if looper is None or looper.closed else looper

    @classmethod
    def main(cls) -> "Looper":
        """The main thread's looper, from any thread.

        On the main thread it is made if there is none.

        Raises:
            LooperError: There is none, and this is not the main thread.
        """
        looper = Looper._main() if Looper._main is not None else None
        if looper is not None and not looper.closed:
            return looper
        if threading.current_thread() is threading.main_thread():
            return cls.current() or cls.prepare()
        raise LooperError("the main thread has no looper; call Looper.prepare() there first")

    # ---- the loop

    def run(self) -> None:
        """Runs messages on the calling thread until the looper quits.

        What a callback raises goes to `exception_hook`. KeyboardInterrupt and SystemExit leave the loop; it
        may be run again after them. On the main thread Ctrl-C ends the sleep as well.

        Raises:
            LooperError: Another thread's looper, one that runs already or has quit, or a virtual clock.
        """
        with wake_on_signals(self):
            self._run()

    def is_current_thread(self) -> bool:
        """Whether the calling thread is the looper's."""
        return threading.get_ident() == self.thread_id

    def remove_sync_barrier(self, barrier: native.Posted) -> bool:
        """Lifts a barrier of `post_sync_barrier()`; False if it was lifted before."""
        if not isinstance(barrier, native.Posted):
            raise TypeError(
                f"remove_sync_barrier() needs what post_sync_barrier() answered, not {type(barrier).__name__}"
            )
        return barrier.cancel()

    # ---- idle handlers

    def add_idle_handler(self, handler: IdleHandler) -> None:
        """Has `handler()` called on the looper's thread each time it runs out of due messages.

        It stays as long as it answers something true. Any thread.
        """
        if not callable(handler):
            raise TypeError(f"add_idle_handler() needs a callable, not {type(handler).__name__}")
        with self._lock:
            self._idle_handlers.append(handler)
            self._set_idle_handlers(True)
        self.wake()

    def remove_idle_handler(self, handler: IdleHandler) -> bool:
        """Takes it off again; whether it was there. Any thread."""
        with self._lock:
            if handler not in self._idle_handlers:
                return False
            self._idle_handlers.remove(handler)
            self._set_idle_handlers(bool(self._idle_handlers))
        return True

    def _on_idle(self) -> None:
        with self._lock:
            handlers = list(self._idle_handlers)
        for handler in handlers:
            try:
                keep = bool(handler())
            except Exception as raised:
                keep = False
                self._on_exception(raised, (None, handler, 0, self.now()))
            if not keep:
                self.remove_idle_handler(handler)

    # ---- file descriptors

    def add_fd_listener(self, fd: int, events: FdEvent, listener: FdListener) -> None:
        """Has `listener(fd, events)` called on the looper's thread while the descriptor is ready.

        The listener's answer says how to go on: None as before, an `FdEvent` with these, an empty one not at
        all. Adding a descriptor again replaces its listener. Remove it before the descriptor is closed. Any
        thread.

        Raises:
            LooperError: The descriptor is closed or a regular file, or the looper has quit.
        """
        self._listeners.add(fd, events, listener)

    def remove_fd_listener(self, fd: int) -> bool:
        """Takes it off again; whether there was one. Any thread."""
        return self._listeners.remove(fd)

    def _on_ready(self, identity: int, readiness: int) -> None:
        try:
            self._listeners.dispatch(identity, readiness)
        except Exception as raised:
            self._on_exception(raised, (None, self._listeners.listener(identity), 0, self.now()))

    # ---- observers

    def add_observer(self, observer: LooperObserver) -> None:
        """Tells `observer` of late and of long dispatches, from its thresholds on. Any thread."""
        self._observers.add(observer)

    def remove_observer(self, observer: LooperObserver) -> bool:
        """Takes it off again; whether it was there. Any thread."""
        return self._observers.remove(observer)

    def _on_slow(self, about: tuple[Any, ...], late_s: float, took_s: float) -> None:
        self._observers.report(Dispatch(self, *about), late_s, took_s)

    def _on_exception(self, raised: BaseException, about: tuple[Any, ...]) -> None:
        dispatch = Dispatch(self, *about)
        try:
            self.exception_hook(raised, dispatch)
        except Exception as second:
            print_exception(raised, dispatch)
            print_exception(second, Dispatch(self, None, self.exception_hook, 0, self.now()))

    # ---- for people

    def dump(self, prefix: str = "") -> str:
        """The looper's state and what is pending, earliest first; lines begin with `prefix`. Any thread."""
        return describe(self, prefix)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "quitting" if self.quitting else "open"
        return f"<Looper {self.name!r} {state} queue={self.queue!r}>"
