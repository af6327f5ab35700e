"""Messages and timers between threads without a lock: Android's Looper and Handler for Python.

Layout: `_looper_class` the loop, `_handler` posting, `_thread` a thread with a loop, `_driver` for tests; the
rest is one addition per file. The queue itself is native, `unjank._looper`.
"""

from unjank._looper import Message, Posted, Task, share
from unjank.looper._driver import LooperDriver
from unjank.looper._executor import HandlerExecutor
from unjank.looper._fds import FdEvent
from unjank.looper._handler import Handler
from unjank.looper._include import get_include
from unjank.looper._looper_class import Looper
from unjank.looper._observe import Dispatch, LooperObserver, print_exception
from unjank.looper._sched import LooperScheduler
from unjank.looper._thread import HandlerThread
from unjank.looper._watchdog import Stall, Watchdog, print_stall

__all__ = [
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
