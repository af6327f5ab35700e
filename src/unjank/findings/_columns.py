"""Reads columns of a query's row whose types the trace decides: it may hold anything under any name."""

import sys
from typing import Any


def bounds(row: Any, trace_end: int) -> tuple[int, int]:  # noqa: ANN401  a row's columns are those of the query
    """Start and end of a slice, ns; one without an end lasts as long as the trace."""
    return row.ts, max(row.ts, trace_end) if row.dur < 0 else row.ts + row.dur


def text(value: object) -> str | None:
    """A text, None if there is none or an empty one.

    Interned, since each row has its own copy of what are few different texts.
    """
    return None if value is None or value == "" else sys.intern(str(value))


def number(value: object) -> int | None:
    """An integer, None if the value is none."""
    return value if isinstance(value, int) else None
