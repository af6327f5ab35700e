"""What every output format does."""

from typing import Protocol

from unjank.trace.rows import ResultBatch


class ResultWriter(Protocol):
    """Writes a result batch by batch, so that memory does not grow with the number of rows.

    A writer is fed with at least one batch, then finished. A statement without a result, such as CREATE
    VIEW, has no columns; formats write their form of "nothing" for it.
    """

    def write(self, batch: ResultBatch) -> None:
        """Writes the rows of a batch."""

    def finish(self) -> None:
        """Writes what belongs at the end."""

    def abandon(self) -> None:
        """Ends after an error in the middle; what was written stays readable where the format allows."""
