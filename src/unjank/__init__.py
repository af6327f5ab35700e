"""unjank finds what your threads wait for, and stops the wait.

Layout: `record` makes traces, `trace` reads them, `findings` judges them, `report` tells, `cli` calls;
`looper` stops the waits.
Names below are the public ones; what is heavy to import is loaded on first use.
"""

from typing import TYPE_CHECKING, Any

from unjank._errors import (
    CpuError,
    EngineError,
    LooperError,
    QueryError,
    RecordError,
    SchedulingUnavailableError,
    TraceError,
    UnjankError,
)
from unjank._version import __version__
from unjank.record import record

if TYPE_CHECKING:
    from unjank.looper import Handler, HandlerThread, Looper, Message
    from unjank.trace import TraceProcessor

__all__ = [
    "CpuError",
    "EngineError",
    "Handler",
    "HandlerThread",
    "Looper",
    "LooperError",
    "Message",
    "QueryError",
    "RecordError",
    "SchedulingUnavailableError",
    "TraceError",
    "TraceProcessor",
    "UnjankError",
    "__version__",
    "record",
]


_LOOPER_NAMES = frozenset({"Handler", "HandlerThread", "Looper", "Message"})


def __getattr__(name: str) -> Any:  # noqa: ANN401  the type is that of the name asked for
    if name == "TraceProcessor":
        from unjank.trace import TraceProcessor

        return TraceProcessor
    if name in _LOOPER_NAMES:
        from unjank import looper

        return getattr(looper, name)
    raise AttributeError(f"module 'unjank' has no attribute {name!r}")
