"""The result of a fleet: tables for pyarrow, pandas, polars and DuckDB."""

import os
import tempfile
from typing import Any

from unjank._errors import UnjankError
from unjank.fleet._aggregate import AGGREGATE_ROWS, AGGREGATE_SECONDS, aggregate
from unjank.fleet._dataset import ERRORS, TRACES, UNFINISHED, Dataset, Totals
from unjank.fleet._extras import require_pandas, require_polars
from unjank.fleet._part import read_table
from unjank.fleet._rows import read_rows
from unjank.fleet._storage import open_storage

Table = Any  # a pyarrow.Table, without static type


class FleetTable:
    """Rows in one of the forms that people compute with."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def arrow(self) -> Table:
        """As a pyarrow.Table."""
        return self._table

    def pandas(self) -> Any:  # noqa: ANN401  a pandas.DataFrame
        """As a pandas.DataFrame.

        Raises:
            UnjankError: pandas is not installed.
        """
        require_pandas()
        return self._table.to_pandas()

    def polars(self) -> Any:  # noqa: ANN401  a polars.DataFrame
        """As a polars.DataFrame.

        Raises:
            UnjankError: polars is not installed.
        """
        return require_polars().from_arrow(self._table)

    def __len__(self) -> int:
        return int(self._table.num_rows)


class FleetResult:
    """The result in a folder, whole or as far as an interrupted run got.

    Attributes:
        totals: How many traces gave rows and how many failed; None for one that was not finished.
    """

    def __init__(
        self,
        dataset: Dataset,
        totals: Totals | None = None,
        temporary: "tempfile.TemporaryDirectory[str] | None" = None,
    ) -> None:
        self._dataset = dataset
        self._temporary = temporary  # lives as long as the result
        self.totals = totals

    @property
    def place(self) -> str:
        """The folder: its path or fsspec URL."""
        return self._dataset.storage.url

    def rows(self) -> FleetTable:
        """All rows, each with its trace's name and metadata.

        Raises:
            UnjankError: A file in the folder is not of the result.
        """
        return FleetTable(read_rows(self._dataset))

    def arrow(self) -> Table:
        """All rows as a pyarrow.Table."""
        return self.rows().arrow()

    def pandas(self) -> Any:  # noqa: ANN401  a pandas.DataFrame
        """All rows as a pandas.DataFrame."""
        return self.rows().pandas()

    def polars(self) -> Any:  # noqa: ANN401  a polars.DataFrame
        """All rows as a polars.DataFrame."""
        return self.rows().polars()

    def errors(self) -> FleetTable:
        """The traces that failed: trace, stage, cause."""
        return self._read(ERRORS)

    def traces(self) -> FleetTable:
        """All traces: name, metadata, status, number of rows, notes.

        Raises:
            UnjankError: The run was killed before it wrote them.
        """
        if not self._dataset.storage.exists(TRACES):
            raise UnjankError(f"{self.place}: {UNFINISHED}")
        return self._read(TRACES)

    def aggregate(
        self, sql: str, *, rows: int = AGGREGATE_ROWS, seconds: float = AGGREGATE_SECONDS
    ) -> FleetTable:
        """Runs DuckDB's SQL over the tables `results`, `errors` and `traces`.

        The SQL may not reach anything else: no file, no network, no extension, no setting.

        Args:
            sql: What to ask.
            rows: More of them are an error.
            seconds: As is more time.

        Raises:
            UnjankError: The SQL is wrong or beyond the limits, or duckdb is not installed.
        """
        return FleetTable(aggregate(self._dataset, sql, rows=rows, seconds=seconds))

    def _read(self, name: str) -> FleetTable:
        return FleetTable(read_table(self._dataset.storage, name))


def open_fleet(place: str | os.PathLike[str]) -> FleetResult:
    """The result in a folder, also while a run writes it or after it was interrupted.

    Args:
        place: Path or fsspec URL.

    Raises:
        UnjankError: There is none.
    """
    return FleetResult(Dataset.open(open_storage(place)))
