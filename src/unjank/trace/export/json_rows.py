"""JSON: an array with one object per row, one row per line.

Always valid JSON. NULL is null. Integers keep all 64 bits. Infinity is 1e999, which every reader takes for
infinity, and NaN is null, since JSON knows neither. A blob is {"base64": "..."}. Text that is not UTF-8 has
U+FFFD in place of the bad bytes. Of columns with the same name, the later ones get ":1", ":2", … appended.
"""

import base64
import json
import math
from typing import BinaryIO

from unjank.trace.rows import ResultBatch, Value, unique_names

_NOT_FINITE = {math.inf: "1e999", -math.inf: "-1e999"}
_encode_text = json.JSONEncoder(ensure_ascii=False).encode


class JsonWriter:
    """Writes the array; `[]` for a result without columns or rows."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._separator = b"[\n"

    def write(self, batch: ResultBatch) -> None:
        """Writes one object per row."""
        keys = [_encode_text(name) + ": " for name in unique_names(batch.columns)]
        for row in batch.rows():
            members = ", ".join(key + encode(value) for key, value in zip(keys, row, strict=True))
            self._out.write(self._separator + b"{" + members.encode() + b"}")
            self._separator = b",\n"

    def finish(self) -> None:
        """Closes the array."""
        self._out.write(b"[]\n" if self._separator == b"[\n" else b"\n]\n")

    def abandon(self) -> None:
        """Closes the array too: it is valid JSON even then."""
        self.finish()


def encode(value: Value) -> str:
    """A value as JSON text."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return _encode_text(value)
    if isinstance(value, bytes):
        return '{"base64": "' + base64.b64encode(value).decode() + '"}'
    if isinstance(value, float) and not math.isfinite(value):
        return _NOT_FINITE.get(value, "null")
    return repr(value)
