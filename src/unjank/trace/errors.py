"""What this package raises: unjank's exceptions that are also perfetto's.

Code written for perfetto's `TraceProcessor` catches `TraceProcessorException`; code written for unjank
catches `UnjankError`. Each error of this package is both.
"""

from dataclasses import dataclass

from perfetto.common.exceptions import PerfettoException

from unjank._errors import EngineError, QueryError, TraceError, UnjankError


class _PerfettoError(UnjankError, PerfettoException):
    """Gives perfetto's exception a typed constructor; it does nothing of its own either."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class TraceLoadError(TraceError, _PerfettoError):
    """A trace could not be read, or made the engine abort; names the trace and the cause."""


class EngineUnavailableError(EngineError, _PerfettoError):
    """The engine could not be found, compiled or started, or was used in a way it does not allow."""


@dataclass(frozen=True)
class SqlPosition:
    """Where in the SQL text an error was seen: file as the engine names it, line and column from 1."""

    source: str
    line: int
    column: int


class SqlError(QueryError, _PerfettoError):
    """A statement failed. The message is one line; `engine_text` is all the engine said.

    Attributes:
        position: where in the SQL, or None where the engine did not say.
        engine_text: the engine's message, with its excerpt of the SQL and the caret under the culprit.
    """

    def __init__(self, message: str, engine_text: str = "", position: SqlPosition | None = None) -> None:
        super().__init__(message)
        self.engine_text = engine_text or message
        self.position = position


class EngineDiedError(EngineError, _PerfettoError):
    """The engine trapped, aborted or ran out of memory; it can't be used again.

    Attributes:
        out_of_memory: whether the engine had asked for more memory than its module can address.
    """

    def __init__(self, cause: str, *, out_of_memory: bool = False) -> None:
        super().__init__(cause)
        self.out_of_memory = out_of_memory
