"""A plain table for people: aligned columns, numbers to the right.

The widths come from the first rows, so that a long result can be written as it comes; a later value that is
wider moves the rest of its line. NULL is [NULL], a blob x'00ff'. Control characters are escaped: names in a
trace may hold anything, and a terminal would obey.
"""

import re
from typing import BinaryIO

from rich.cells import cell_len

from unjank.trace.rows import ResultBatch, Value

_SAMPLED_ROWS = 1000
_WIDEST = 80
_GAP = "  "
# C0 and C1 controls, DEL, and the marks that change the direction of text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

Line = tuple[Value, ...]


class TableWriter:
    """Holds back the first rows to learn the widths, then writes each row at once."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._columns: tuple[str, ...] = ()
        self._held: list[Line] = []
        self._layout: list[tuple[int, bool]] | None = None  # per column: width, and whether to the right

    def write(self, batch: ResultBatch) -> None:
        """Writes one line per row."""
        self._columns = self._columns or batch.columns
        for row in batch.rows():
            if self._layout is not None:
                self._write_line([text(value) for value in row], self._layout)
            else:
                self._held.append(row)
                if len(self._held) == _SAMPLED_ROWS:
                    self._release()

    def finish(self) -> None:
        """Writes what is still held back."""
        if self._layout is None:
            self._release()

    def abandon(self) -> None:
        """Shows the rows that were found before the error, if there are any."""
        if self._held:
            self._release()

    def _release(self) -> None:
        if not self._columns:
            return
        layout = [self._column_layout(i) for i in range(len(self._columns))]
        self._write_line([text(name) for name in self._columns], layout)
        self._write_line(["-" * width for width, _ in layout], layout)
        for row in self._held:
            self._write_line([text(value) for value in row], layout)
        self._layout, self._held = layout, []

    def _column_layout(self, index: int) -> tuple[int, bool]:
        values = [row[index] for row in self._held]
        widths = [cell_len(text(value)) for value in values]
        width = max(cell_len(text(self._columns[index])), min(max(widths, default=0), _WIDEST))
        numeric = bool(values) and all(value is None or isinstance(value, (int, float)) for value in values)
        return width, numeric

    def _write_line(self, cells: list[str], layout: list[tuple[int, bool]]) -> None:
        padded = [_pad(cell, width, right) for cell, (width, right) in zip(cells, layout, strict=True)]
        self._out.write(_GAP.join(padded).rstrip().encode() + b"\n")


def text(value: Value) -> str:
    """A value as a person reads it, safe to send to a terminal."""
    if value is None:
        return "[NULL]"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), value)
    return repr(value)


def _pad(cell: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
