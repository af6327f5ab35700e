"""The rows of all parts as one table, or as something to be scanned part by part."""

from typing import Any

from unjank.fleet._columns import fit
from unjank.fleet._dataset import Dataset
from unjank.fleet._extras import require_dataset, require_pyarrow
from unjank.fleet._part import read_table


def read_rows(dataset: Dataset) -> Any:  # noqa: ANN401  a pyarrow.Table
    """All rows in memory; parts of an interrupted run are brought to the same columns and types."""
    arrow = require_pyarrow()
    schema = dataset.schema()
    parts = (read_table(dataset.storage, name) for name in dataset.part_names())
    tables = [fit(part.combine_chunks(), schema) for part in parts]
    return arrow.concat_tables(tables) if tables else schema.empty_table()


def scan_rows(dataset: Dataset) -> Any:  # noqa: ANN401  a pyarrow.dataset.Dataset or pyarrow.Table
    """All rows for a query engine: read as it goes where all parts have the same columns and types."""
    names, schema = dataset.part_names(), dataset.schema()
    if not names or any(found != schema for _, found, _ in dataset.ledgers()):
        return read_rows(dataset)
    places, filesystem = dataset.storage.arrow_places(names)
    return require_dataset().dataset(places, schema=schema, format="parquet", filesystem=filesystem)
