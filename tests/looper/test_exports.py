"""The public names, so that none goes or comes by accident."""

import unjank
from unjank import looper


def test_names_of_the_package() -> None:
    """What `unjank.looper` offers."""
    assert looper.__all__ == [
        "Dispatch",
        "FdEvent",
        "Handler",
        "HandlerExecutor",
        "HandlerThread",
        "Looper",
        "LooperDriver",
        "LooperObserver",
        "LooperScheduler",
        "Message",
        "Posted",
        "Stall",
        "Task",
        "Watchdog",
        "get_include",
        "print_exception",
        "print_stall",
        "share",
    ]
    assert all(hasattr(looper, name) for name in looper.__all__)


def test_four_names_are_at_the_top() -> None:
    """`from unjank import Looper, Handler, HandlerThread, Message`."""
    for name in ("Looper", "Handler", "HandlerThread", "Message"):
        assert getattr(unjank, name) is getattr(looper, name)
