"""Turns the engine's error text into one line with a position in the user's SQL."""

import re

from unjank.trace.errors import SqlError, SqlPosition

# `  File "stdin" line 3 col 7` or `  Module include "a.b" line …`, two excerpt lines, and so on inwards; the
# reason comes last.
_FRAME = re.compile(
    r'^  (?:File|Module include) "(?P<source>[^"\n]*)" line (?P<line>\d+) col (?P<column>\d+)$', re.MULTILINE
)
_USER_SQL = "stdin"  # the engine's name for SQL that came in a query


def sql_error(text: str, refused_path: str | None = None, *, wide: bool = True) -> SqlError:
    """The exception for an error text of the engine.

    Args:
        text: what the engine said.
        refused_path: a file the statement tried to open, which explains the error.
        wide: whether the engine has as much memory as it can get.
    """
    positions = [
        SqlPosition(frame["source"], int(frame["line"]), int(frame["column"]))
        for frame in _FRAME.finditer(text)
    ]
    reason = _reason(text)
    if refused_path is not None:
        reason = f"{reason} (SQL can't access files)"
    if reason == "out of memory" and not wide:
        reason = "out of memory; open the trace with engine 'wasm64', which has more"
    position = _innermost_of_user(positions)
    return SqlError(f"SQL error{_where(positions, position)}: {reason}", text, position)


def _reason(text: str) -> str:
    frames = list(_FRAME.finditer(text))
    if not frames:
        return " ".join(text.split()) or "the engine gave no reason"
    # Behind the last frame come the excerpt and its caret, then the reason.
    rest = text[frames[-1].end() :].strip("\n").split("\n")
    caret = next((i for i, line in enumerate(rest) if line.strip() == "^"), -1)
    return " ".join(" ".join(rest[caret + 1 :]).split())


def _innermost_of_user(positions: list[SqlPosition]) -> SqlPosition | None:
    of_user = [position for position in positions if position.source == _USER_SQL]
    return of_user[-1] if of_user else None


def _where(positions: list[SqlPosition], position: SqlPosition | None) -> str:
    where = f" at line {position.line}, column {position.column}" if position else ""
    if positions and positions[-1].source != _USER_SQL:
        inner = positions[-1]
        where += f" (in {inner.source}, line {inner.line}, column {inner.column})"
    return where
