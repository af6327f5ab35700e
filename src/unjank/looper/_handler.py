"""Handler: posts to a looper, and handles what is sent."""

import sys
from collections.abc import Callable
from typing import Self

from unjank import _looper as native
from unjank._errors import LooperError
from unjank.looper._looper_class import Looper
from unjank.looper._scissors import Scissors

Callback = Callable[[native.Message], object]

_POSTING = ("post", "post_delayed", "post_at", "post_at_front", "schedule", "send", "send_message")
_COUNTS_ARE_SHARED = not getattr(sys, "_is_gil_enabled", lambda: True)()


class Handler(native.HandlerCore):
    """Posts callbacks and messages to a looper's thread; any thread may.

    Subclass it and override `handle_message()`, or pass a callback that is given each message first and
    answers whether it dealt with it. Handlers of one looper do not see each other's messages.

    Args:
        looper: Whose thread runs what is posted; the calling thread's looper if None.
        callback: Called with each message before `handle_message()`, which is left out if it answers true.
        asynchronous: Its messages pass sync barriers.

    Raises:
        LooperError: No looper was given and the thread has none.
    """

    def __init__(
        self, looper: Looper | None = None, callback: Callback | None = None, *, asynchronous: bool = False
    ) -> None:
        looper = Looper.current() if looper is None else looper
        if looper is None:
            raise LooperError("this thread has no looper; pass one, or call Looper.prepare() first")
        super().__init__(looper, callback, asynchronous=asynchronous)

    def handle_message(self, message: native.Message) -> None:
        """Override it to handle what `send()` and `send_message()` bring. On the looper's thread.

        The message may be reused once this returns, unless somebody keeps a reference to it.
        """

    def obtain_message(
        self, what: int = 0, arg1: int = 0, arg2: int = 0, obj: object = None, *, data: object = None
    ) -> native.Message:
        """Makes a message to fill in further and give to `send_message()`."""
        return native.Message(what, arg1, arg2, obj, data=data)

    def share(self) -> Self:
        """Prepares the handler for being posted to by many threads at once, where there is no GIL.

        There each use of an object from another thread writes its reference count, and threads that use one
        object slow each other down. Afterwards that is over for the handler and its posting methods. The
        price: CPython 3.14 frees it in a garbage collection, 3.13 never. With a GIL this does nothing.

        Returns:
            The handler.

        Raises:
            LooperError: CPython 3.13, and another thread than the one that made it.
        """
        if _COUNTS_ARE_SHARED:
            native.share(self)
            for name in _POSTING:
                # In the instance, every look-up finds this one bound method instead of making its own.
                self.__dict__[name] = native.share(getattr(self, name))
        return self

    def run_with_scissors(self, callback: Callable[[], object], timeout: float | None = None) -> bool:
        """Runs the callback on the looper's thread and waits until it has returned.

        On that thread itself it is called at once. What it raises is raised here. Prefer `post()`: waiting
        for another thread invites deadlocks.

        Args:
            callback: What to run.
            timeout: Seconds to wait; None: as long as it takes.

        Returns:
            Whether it ran. After the time-out it will not run; if it had begun, it is left to itself.
        """
        if not callable(callback):
            raise TypeError(
                f"run_with_scissors() needs a callable, not {type(callback).__name__}; pass the function"
            )
        if self.looper.thread_id == Scissors.this_thread():
            callback()
            return True
        return Scissors(callback).run_on(self, timeout)

    def __repr__(self) -> str:
        return f"<{type(self).__qualname__} of {self.looper!r}>"


def require_handler(handler: Handler, user: str) -> None:
    """Refuses another thing where one is needed, a looper above all.

    Raises:
        TypeError: It is no Handler.
    """
    if not isinstance(handler, Handler):
        raise TypeError(f"{user}() needs a Handler, not {type(handler).__name__}: Handler(looper)")
