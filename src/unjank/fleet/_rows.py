"""The rows of all parts as one table, or as something to be scanned part by part."""

from typing import Any

from unjank.fleet._columns import fit
from unjank.fleet._dataset import Dataset
from unjank.fleet._extras import require_dataset, require_parquet, require_pyarrow


def read_rows(dataset: Dataset) -> Any:  # noqa: ANN401  a pyarrow.Table
    """All rows in memory; parts of an interrupted run are brought to the same columns and types."""
    arrow, parquet = require_pyarrow(), require_parquet()
    schema = dataset.schema()
    tables = []
    for name in dataset.part_names():
        with dataset.storage.open(name) as file:
            tables.append(fit(parquet.read_table(file).combine_chunks(), schema))
    return arrow.concat_tables(tables) if tables else schema.empty_table()


def scan_rows(dataset: Dataset) -> Any:  # noqa: ANN401  a pyarrow.dataset.Dataset or pyarrow.Table
    """All rows for a query engine: read as it goes where all parts have the same columns and types."""
    names, schema = dataset.part_names(), dataset.schema()
    if not names or any(found != schema for _, found, _ in dataset.ledgers()):
        return read_rows(dataset)
    places, filesystem = dataset.storage.arrow_places(names)
    return require_dataset().dataset(places, schema=schema, format="parquet", filesystem=filesystem)
