"""LooperDriver: runs a looper by hand, message by message, on a clock that moves when told to. For tests."""

from types import TracebackType
from typing import Self

from unjank._errors import LooperError
from unjank.looper._looper_class import Looper
from unjank.looper._observe import Dispatch

_MOST_MESSAGES = 100_000  # then it is not a long queue but a callback that posts itself for ever


class LooperDriver:
    """Drives the calling thread's looper in place of `Looper.run()`.

    Without a looper it prepares one with a virtual clock, which begins at 0 seconds and stands still until
    `advance()`; leaving the with block then shuts it down.

        with LooperDriver() as driver:
            handler = Handler()
            handler.post_delayed(render, 0.016)
            driver.advance(0.016)

    Args:
        looper: The calling thread's looper; None makes one.
        queue: For the looper that is made: "lockfree" or "locked".
        raise_exceptions: What a callback raises is raised by the method that ran it; otherwise it goes to the
            looper's exception hook.
    """

    def __init__(
        self, looper: Looper | None = None, *, queue: str = "lockfree", raise_exceptions: bool = True
    ) -> None:
        if looper is not None:
            _check_own(looper)
        self._owned = looper is None
        self.looper = Looper.prepare(queue, virtual_clock=True) if looper is None else looper  # type: ignore[arg-type]  # checked there
        self._raised: list[BaseException] = []
        self._hook = self.looper.exception_hook
        if raise_exceptions:
            self.looper.exception_hook = self._keep

    def step(self) -> bool:
        """Runs the next message that is due; whether there was one. Never waits."""
        ran = self.looper._step(0.0)
        self._raise_kept()
        return ran

    def run_until_idle(self) -> int:
        """Runs all that is due, and what that posts, then the idle handlers. Never waits.

        Returns:
            How many messages ran.

        Raises:
            LooperError: There is no end to it.
        """
        ran = self._run_due()
        self.looper._on_idle()
        self._raise_kept()
        return ran + self._run_due()

    def _run_due(self) -> int:
        for ran in range(_MOST_MESSAGES):
            if not self.step():
                return ran
        raise LooperError(
            f"still not idle after {_MOST_MESSAGES} messages; does a callback post itself without delay?"
        )

    def next_due(self) -> float | None:
        """When the next message is due, in seconds of the looper's clock; None if there is none.

        What is at the front is due now.
        """
        return self.looper._next_due()

    @property
    def now(self) -> float:
        """The looper's clock, in seconds."""
        return self.looper.now()

    def advance(self, seconds: float) -> int:
        """Moves the virtual clock, stopping at each due time on the way to run what is due.

        Returns:
            How many messages ran.

        Raises:
            LooperError: The looper's clock is the real one, or `seconds` is negative.
        """
        end = self.now + seconds
        ran = self.run_until_idle() if seconds >= 0 else 0
        while (due := self.next_due()) is not None and due <= end:
            self.looper._advance(max(0.0, due - self.now))
            ran += self.run_until_idle()
        self.looper._advance(max(0.0, end - self.now) if seconds >= 0 else seconds)
        return ran

    def close(self) -> None:
        """Gives the looper's hook back; shuts the looper down if the driver made it."""
        self.looper.exception_hook = self._hook
        if self._owned:
            self.looper._shut_down()

    def _keep(self, raised: BaseException, dispatch: Dispatch) -> None:  # noqa: ARG002  the hook's shape
        self._raised.append(raised)

    def _raise_kept(self) -> None:
        if self._raised:
            first, *_ = self._raised
            self._raised.clear()
            raise first

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_own(looper: Looper) -> None:
    if not isinstance(looper, Looper):
        raise TypeError(f"LooperDriver() needs a Looper, not {type(looper).__name__}")
    if not looper.is_current_thread():
        raise LooperError(
            "LooperDriver() was given another thread's looper; drive it on that thread, or post to it"
        )
