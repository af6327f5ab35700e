"""HandlerExecutor: a looper's thread as a concurrent.futures executor."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from typing import Any, ParamSpec, TypeVar

from unjank import _looper as native
from unjank._errors import LooperError
from unjank.looper._handler import Handler, require_handler

P = ParamSpec("P")
T = TypeVar("T")


class _Work(native.Task):
    """One submitted call."""

    def __init__(self, future: "Future[Any]", fn: Callable[..., Any], call: Callable[[], Any]) -> None:
        self.__wrapped__ = fn  # what reports name
        self._future = future
        self._call = call

    def __call__(self) -> None:
        if not self._future.set_running_or_notify_cancel():
            return
        try:
            result = self._call()
        except BaseException as raised:
            self._future.set_exception(raised)
        else:
            self._future.set_result(result)

    def dropped(self) -> None:
        """Cancels the future: nobody will run it."""
        if self._future.cancel():
            self._future.set_running_or_notify_cancel()


class HandlerExecutor(Executor):
    """Runs submitted calls on a handler's looper, in order, one at a time.

    A future that is cancelled leaves the queue at once. If the looper quits, or the handler's messages are
    removed, the futures that did not run are cancelled. Shutting the executor down does not quit the looper.

    Args:
        handler: Whose looper runs the calls.
    """

    def __init__(self, handler: Handler) -> None:
        require_handler(handler, "HandlerExecutor")
        self._handler = handler
        self._lock = threading.Lock()
        self._pending: set[Future[Any]] = set()
        self._shut_down = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Runs fn(*args, **kwargs) on the looper's thread.

        Raises:
            RuntimeError: The executor was shut down, or the looper has quit.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._shut_down:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._pending.add(future)
        posted = self._handler.schedule(_Work(future, fn, lambda: fn(*args, **kwargs)), 0.0)
        if not posted:
            self._forget(future)
            raise RuntimeError("cannot schedule new futures: the looper has quit")
        future.add_done_callback(lambda done: self._done(done, posted))
        return future

    def _done(self, future: "Future[Any]", posted: native.Posted) -> None:
        self._forget(future)
        if future.cancelled():
            posted.cancel()

    def _forget(self, future: "Future[Any]") -> None:
        with self._lock:
            self._pending.discard(future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls.

        Args:
            wait: Return only when all that was submitted has ended.
            cancel_futures: Cancel what has not begun.

        Raises:
            LooperError: Waiting on the looper's own thread for calls that only this thread could run.
        """
        with self._lock:
            self._shut_down = True
            pending = list(self._pending)
        if cancel_futures:
            for future in pending:
                future.cancel()
        if wait:
            self._wait([future for future in pending if not future.done()])

    def _wait(self, pending: "list[Future[Any]]") -> None:
        if pending and self._handler.looper.is_current_thread():
            raise LooperError(
                "the looper's thread cannot wait for what only it can run; use shutdown(wait=False)"
            )
        wait(pending)
