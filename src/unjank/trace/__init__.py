"""Reads traces with Perfetto's trace processor, in this process.

Layout: `processor` is perfetto's API; `backend` its RPC client over `transport`; `engine/` finds, compiles
and runs the WebAssembly module; `host/` is what the module imports; `source`, `framing` and `salvage` deal
with traces that are not as they should be; `rows` and `export/` with results.
"""

from unjank.trace.errors import (
    EngineDiedError,
    EngineUnavailableError,
    SqlError,
    SqlPosition,
    TraceLoadError,
)
from unjank.trace.processor import EngineName, TraceProcessor, query
from unjank.trace.rows import CellKind, ResultBatch, Row, Value, unique_names

__all__ = [
    "CellKind",
    "EngineDiedError",
    "EngineName",
    "EngineUnavailableError",
    "ResultBatch",
    "Row",
    "SqlError",
    "SqlPosition",
    "TraceLoadError",
    "TraceProcessor",
    "Value",
    "query",
    "unique_names",
]
