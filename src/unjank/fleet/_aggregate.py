"""SQL over the result of a fleet, by DuckDB: it sees the result's tables and nothing else."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unjank._errors import QueryError
from unjank.fleet._dataset import ERRORS, TRACES, UNFINISHED, Dataset
from unjank.fleet._extras import require_duckdb, require_pyarrow
from unjank.fleet._part import read_table
from unjank.fleet._rows import scan_rows

AGGREGATE_ROWS = 1_000_000
AGGREGATE_SECONDS = 600.0
_ROWS_PER_BATCH = 65_536
# SQL is untrusted: nothing outside may be read, written, loaded or named, nor any of this be changed.
_CONFIGURATION = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


def aggregate(dataset: Dataset, sql: str, *, rows: int, seconds: float) -> Any:  # noqa: ANN401  a Table
    """Runs DuckDB's SQL over `results`, `errors` and `traces`; returns a pyarrow.Table.

    Raises:
        QueryError: The SQL is wrong, reaches for something else, or is beyond the limits.
        UnjankError: duckdb is not installed.
    """
    duckdb = require_duckdb()
    with duckdb.connect(":memory:", config=_CONFIGURATION) as connection:
        for name, source in _sources(dataset).items():
            connection.register(name, source)
        connection.execute("SET lock_configuration = true")
        with _deadline(connection, seconds) as overrun:
            try:
                return _bounded(connection.sql(sql), rows)
            except duckdb.InterruptException:
                if not overrun.is_set():
                    raise
                raise QueryError(f"--aggregate: took longer than {seconds:g} s") from None
            except duckdb.Error as error:
                hint = "" if dataset.storage.exists(TRACES) else f" ({UNFINISHED})"
                raise QueryError(f"--aggregate: {_in_one_line(error)}{hint}") from None


def _sources(dataset: Dataset) -> dict[str, Any]:
    sources = {"results": scan_rows(dataset)}
    for name, file_name in (("errors", ERRORS), ("traces", TRACES)):
        if dataset.storage.exists(file_name):
            sources[name] = read_table(dataset.storage, file_name)
    return sources


def _bounded(found: Any, most: int) -> Any:  # noqa: ANN401  DuckDB's relation; a pyarrow.Table
    arrow = require_pyarrow()
    if found is None:
        return arrow.table({})  # a statement without a result
    reader = found.to_arrow_reader(_ROWS_PER_BATCH)
    batches, count = [], 0
    for batch in reader:
        batches.append(batch)
        count += batch.num_rows
        if count > most:
            raise QueryError(f"--aggregate: more than {most} rows; aggregate further, or add LIMIT")
    return _with_plain_integers(arrow.Table.from_batches(batches, reader.schema))


def _with_plain_integers(table: Any) -> Any:  # noqa: ANN401  a pyarrow.Table, and the same again
    """Sums of integers as int64 where they fit: DuckDB makes them 128 bits wide, others call that decimal."""
    arrow = require_pyarrow()
    for index, field in enumerate(table.schema):
        if arrow.types.is_decimal(field.type) and field.type.scale == 0:
            try:
                narrow = table.column(index).cast(arrow.int64())
            except arrow.ArrowInvalid:
                continue  # one of them is larger; they stay as they are
            table = table.set_column(index, field.name, narrow)
    return table


@contextmanager
def _deadline(connection: Any, seconds: float) -> Iterator[threading.Event]:  # noqa: ANN401  see _bounded
    overrun = threading.Event()

    def interrupt() -> None:
        overrun.set()
        connection.interrupt()

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield overrun
    finally:
        timer.cancel()


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())
