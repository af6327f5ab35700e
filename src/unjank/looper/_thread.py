"""HandlerThread: a thread that runs a looper."""

import os
import threading
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import NoReturn, Self

from unjank._errors import LooperError
from unjank.looper._looper_class import Looper, QueueName

_EXIT_WAIT_S = 2.0  # how long the interpreter's exit waits for what a looper runs at that moment


class HandlerThread(threading.Thread):
    """A thread with a looper.

    As a context manager it starts, and at the end quits safely (what is due runs) and joins. A daemon thread:
    at the interpreter's exit its looper quits, and what is pending is dropped.

    Args:
        name: The thread's name.
        nice: Its nice value, -20 (most urgent) to 19; None: that of the starting thread.
        cpus: The CPUs it may run on; None: those of the starting thread.
        queue: "lockfree" or "locked"; see `Looper.prepare()`.
    """

    def __init__(
        self,
        name: str,
        *,
        nice: int | None = None,
        cpus: Iterable[int] | None = None,
        queue: QueueName = "lockfree",
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._nice = nice
        self._cpus = None if cpus is None else frozenset(cpus)
        self._queue = queue
        self._ready = threading.Event()
        self._looper: Looper | None = None
        self._failed: BaseException | None = None

    @property
    def looper(self) -> Looper:
        """The thread's looper; waits until it is there.

        Raises:
            LooperError: The thread was not started, or could not be set up.
        """
        if self.ident is None and not self._ready.is_set():
            raise LooperError(
                f"HandlerThread {self.name!r} was not started; call .start() or use it in a with"
            )
        self._ready.wait()
        if self._looper is None:
            raise LooperError(
                f"HandlerThread {self.name!r} could not start: {self._failed}"
            ) from self._failed
        return self._looper

    def on_looper_prepared(self) -> None:
        """Override it to do something on the thread before the loop begins."""

    def run(self) -> None:
        """Makes the looper and runs it until it quits."""
        try:
            self._set_up()
        except Exception as failed:
            self._failed = failed
            return
        finally:
            self._ready.set()
        self._loop()

    def _set_up(self) -> None:
        if self._cpus is not None:
            _set_cpus(self._cpus)
        if self._nice is not None:
            _set_nice(self._nice)
        self._looper = Looper.prepare(self._queue)

    def _loop(self) -> None:
        looper = self.looper
        ended = threading.Event()
        stop = weakref.finalize(self, _stop, looper, ended)  # runs at the interpreter's exit
        try:
            self.on_looper_prepared()
            looper.run()
        finally:
            stop.detach()
            looper._shut_down()
            ended.set()

    def quit(self) -> bool:
        """Ends the loop; what is pending is dropped. False if the thread was not started or had ended."""
        return self._end(safely=False)

    def quit_safely(self) -> bool:
        """Ends the loop after what is due by now. False if the thread was not started or had ended."""
        return self._end(safely=True)

    def _end(self, *, safely: bool) -> bool:
        if self.ident is None or self._failed is not None:
            return False
        looper = self.looper
        if looper.closed:
            return False
        (looper.quit_safely if safely else looper.quit)()
        return True

    def __enter__(self) -> Self:
        self.start()
        try:
            self.looper  # noqa: B018  a thread that could not be set up is an error here
        except LooperError:
            self.join()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.quit_safely()
        if threading.current_thread() is not self:
            self.join()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "cannot pickle 'HandlerThread' object: a thread stays in its process; start one in the other"
        )


def _stop(looper: Looper, ended: threading.Event) -> None:
    looper.quit()
    if not looper.is_current_thread():
        ended.wait(_EXIT_WAIT_S)


def _set_nice(nice: int) -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
    except PermissionError as error:
        raise LooperError(
            f"no right to set nice {nice}; give the process CAP_SYS_NICE or a higher RLIMIT_NICE, or choose "
            "a value that is not below the present one"
        ) from error


def _set_cpus(cpus: frozenset[int]) -> None:
    try:
        os.sched_setaffinity(0, cpus)
    except (OSError, ValueError) as error:
        allowed = sorted(os.sched_getaffinity(0))
        raise LooperError(f"cannot run on CPUs {sorted(cpus)}; this process may use {allowed}") from error
