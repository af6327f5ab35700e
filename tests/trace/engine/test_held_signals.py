"""Signal handlers that wait: nothing is lost, nothing is raised where it would be dropped."""

import signal
import threading
from collections.abc import Iterator

import pytest

from unjank.trace.engine.held_signals import HeldSignals


class _CameError(Exception):
    """What the handler raises."""


def _handler(_number: int, _frame: object) -> None:
    raise _CameError


@pytest.fixture(autouse=True)
def _raising_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, _handler)
    yield
    signal.signal(signal.SIGUSR1, before)


def test_a_handler_waits_for_its_delivery() -> None:
    """A signal in the block raises nothing there, not at its end, and once when it is delivered."""
    held = HeldSignals()
    with held:
        signal.raise_signal(signal.SIGUSR1)
    with pytest.raises(_CameError):
        held.deliver()
    held.deliver()


def test_a_body_gets_what_came_before_it_and_during_it() -> None:
    """`run` delivers what waited before it enters the body; in the body handlers run at once."""
    held, entered = HeldSignals(), list[bool]()
    with held:
        signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(_CameError):
            held.run(entered.append, True)
        with pytest.raises(_CameError):
            held.run(signal.raise_signal, signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
    assert entered == []
    with pytest.raises(_CameError):
        held.deliver()


def test_handlers_are_put_back() -> None:
    """After the block each signal has its handler again, and one that the block itself set is kept."""
    held = HeldSignals()
    with held:
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGUSR1) is _handler
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN
    signal.signal(signal.SIGUSR2, signal.SIG_DFL)


def test_blocks_of_two_nest() -> None:
    """An engine used while another one hands over rows passes the signals it held on to the outer one."""
    outer, inner = HeldSignals(), HeldSignals()
    with outer:
        with inner:
            signal.raise_signal(signal.SIGUSR1)
        inner.deliver()
    assert signal.getsignal(signal.SIGUSR1) is _handler
    with pytest.raises(_CameError):
        outer.deliver()


def test_other_threads_touch_no_handler() -> None:
    """Python refuses to change handlers outside of the main thread; there the block does nothing."""
    seen: list[object] = []

    def look() -> None:
        with HeldSignals():
            seen.append(signal.getsignal(signal.SIGUSR1))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [_handler]
