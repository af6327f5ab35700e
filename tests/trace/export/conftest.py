"""What the tests of the formats share."""

from collections.abc import Callable, Iterator
from io import BytesIO

import pytest

from unjank import TraceProcessor
from unjank.trace.export.formats import WRITERS, FormatName

Export = Callable[[FormatName, str], bytes]

# One row with every kind of value that is easily got wrong.
AWKWARD = """
SELECT NULL AS missing, '' AS empty, x'00ff' AS blob, 9223372036854775807 AS big, 0.1 AS fraction,
  9e999 AS endless, -9e999 AS endless_down, CAST(x'61ff' AS TEXT) AS bad, 'a"b,' || char(10) || 'c' AS quoted,
  char(27) || '[31m' AS red, 'é漢' AS wide, 1 AS twin, 2 AS twin
"""


@pytest.fixture(scope="session")
def tp() -> Iterator[TraceProcessor]:
    """An engine with no trace."""
    with TraceProcessor() as made:
        yield made


@pytest.fixture
def export(tp: TraceProcessor) -> Export:
    """Runs SQL and returns the bytes that a format makes of the result."""

    def run(name: FormatName, sql: str) -> bytes:
        out = BytesIO()
        writer = WRITERS[name](out)
        tp.stream(sql, writer.write)
        writer.finish()
        return out.getvalue()

    return run
