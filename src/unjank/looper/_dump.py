"""The text of Looper.dump()."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unjank.looper._looper_class import Looper

_Row = tuple[float, int, int, int, int, int, int]


def describe(looper: "Looper", prefix: str) -> str:
    """One line for the looper, one per pending message, earliest first."""
    now = looper.now()
    rows = looper._pending()
    # Newest first: what was posted at the front is in order, the rest is turned round and sorted stably.
    front = [row for row in rows if row[5]]
    others = sorted((row for row in reversed(rows) if not row[5]), key=lambda row: row[0])
    head = f"{prefix}{looper!r} at {now:.6f}, {len(rows)} pending"
    return "\n".join([head, *(f"{prefix}  {_line(row, now)}" for row in [*front, *others])])


def _line(row: _Row, now: float) -> str:
    when, handler, what, callback, asynchronous, at_front, barrier = row
    due = "at front" if at_front else f"in {when - now:+.6f} s"
    if barrier:
        return f"{due}: sync barrier"
    subject = f"callback 0x{callback:x}" if callback else f"what={what}"
    return f"{due}: {subject} handler=0x{handler:x}{' asynchronous' if asynchronous else ''}"
