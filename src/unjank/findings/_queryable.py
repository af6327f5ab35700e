"""What findings need of a trace processor: perfetto's own, unjank's, or one that tests made up."""

from collections.abc import Iterable
from typing import Any, Protocol


class Queryable(Protocol):
    """A loaded trace."""

    def query(self, sql: str) -> Iterable[Any]:
        """Runs SQL; each row has its columns as attributes."""
