"""The output formats by name."""

from collections.abc import Callable
from typing import BinaryIO, Literal

from unjank.trace.export.csv_rows import CsvWriter
from unjank.trace.export.json_rows import JsonWriter
from unjank.trace.export.parquet import ParquetWriter
from unjank.trace.export.table import TableWriter
from unjank.trace.export.writer import ResultWriter

FormatName = Literal["table", "csv", "json", "parquet"]

WRITERS: dict[FormatName, Callable[[BinaryIO], ResultWriter]] = {
    "table": TableWriter,
    "csv": CsvWriter,
    "json": JsonWriter,
    "parquet": ParquetWriter,
}
