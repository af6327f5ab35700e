"""CSV as in RFC 4180, with a header line and lines that end in LF.

NULL is an empty field, the empty text is "", so the two stay apart. A blob is written as SQL writes it:
x'00ff'. Text is quoted where it has to be; text that is not UTF-8 has U+FFFD in place of the bad bytes.
"""

import re
from typing import BinaryIO

from unjank.trace.rows import ResultBatch, Value

_NEEDS_QUOTES = re.compile(r'[",\r\n]|^$|^\s|\s$')


class CsvWriter:
    """Writes the header with the first batch; nothing at all for a result without columns."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._has_header = False

    def write(self, batch: ResultBatch) -> None:
        """Writes one line per row."""
        if batch.columns and not self._has_header:
            self._has_header = True
            self._out.write(",".join(map(field, batch.columns)).encode() + b"\n")
        for row in batch.rows():
            self._out.write(",".join(map(field, row)).encode() + b"\n")

    def finish(self) -> None:
        """CSV has no end mark."""

    def abandon(self) -> None:
        """Nor has it one for an error."""


def field(value: Value) -> str:
    """A value as a CSV field."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if not isinstance(value, str):
        return repr(value)
    return '"' + value.replace('"', '""') + '"' if _NEEDS_QUOTES.search(value) else value
