"""A part of the result: rows of some traces in one Parquet file, and in its footer which traces those are.

Rows and the note of what is done become visible with one rename, so neither is ever there without the other.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from unjank._errors import UnjankError
from unjank.fleet._columns import Batch, Schema, fit, widest_schema, with_constants
from unjank.fleet._extras import require_compute, require_parquet, require_pyarrow
from unjank.fleet._metadata import COLUMN_PREFIX, FACT_NAMES
from unjank.fleet._outcome import Outcome
from unjank.fleet._storage import Storage

RESULTS = "results"
NAME_COLUMN = "trace"
_LEDGER_KEY = b"unjank.fleet"
_SCHEMA = "unjank.fleet-part/1"
_SPOOL_BYTES = 16 << 20  # of rows kept in memory, before they go to a temporary file
_ROWS_PER_GROUP = 100_000


@dataclass(frozen=True)
class Entry:
    """What became of one trace.

    Attributes:
        trace: Its name.
        rows: Number of its rows in the part.
        facts: Its metadata by name.
        notes: What to know about it.
        stage: Where it failed, empty if it did not.
        cause: Why.
    """

    trace: str
    rows: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stage: str = ""
    cause: str = ""

    @property
    def failed(self) -> bool:
        """Whether the trace is in the table of errors."""
        return bool(self.stage)


@dataclass(frozen=True)
class Ledger:
    """All traces of a part, and which run of the command made it (1, 2 with the first --resume, …)."""

    run: int
    entries: tuple[Entry, ...]

    def encode(self) -> bytes:
        """As text for a Parquet file's metadata."""
        document = {"schema": _SCHEMA, "run": self.run, "entries": [asdict(entry) for entry in self.entries]}
        return json.dumps(document, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, text: bytes) -> "Ledger":
        """What `encode` made.

        Raises:
            ValueError: It is something else.
        """
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
            raise ValueError("not written by unjank fleet")
        entries = [Entry(**{**entry, "notes": tuple(entry["notes"])}) for entry in document["entries"]]
        return cls(document["run"], tuple(entries))


class PartWriter:
    """Collects the outcomes of some traces and commits them as one file.

    Args:
        run: Which run of the command this is.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._entries: list[Entry] = []
        self._schemas: list[Schema] = []
        self._spool = _Spool()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was added."""
        return tuple(self._entries)

    def add(self, outcome: Outcome) -> Entry:
        """Takes in what became of one trace."""
        facts = {**outcome.facts, **outcome.trace.metadata}
        if outcome.failure:
            entry = Entry(outcome.trace.label, 0, facts, (), outcome.failure.stage, outcome.failure.cause)
        else:
            entry = Entry(outcome.trace.label, outcome.rows, facts, outcome.notes)
            for batch in outcome.batches:
                self._keep(with_constants(batch, trace_columns(entry)))
        self._entries.append(entry)
        return entry

    def commit(self, storage: Storage) -> str:
        """Writes the part; returns its name, which follows from the names of its traces.

        So a part that is written twice, since a worker died after it had done so, is still there once.

        Raises:
            UnjankError: It cannot be written.
        """
        name = f"{RESULTS}/part-{_digest(entry.trace for entry in self._entries)}.parquet"
        schema = widest_schema([least_schema(), *self._schemas])
        with storage.replace(name) as file:
            write_rows(file, self._spool.read(), schema, Ledger(self._run, self.entries))
        self._spool.close()
        return name

    def _keep(self, batch: Batch) -> None:
        if batch.schema not in self._schemas:
            self._schemas.append(batch.schema)
        if batch.num_rows:
            self._spool.write(batch)


def write_rows(file: BinaryIO, batches: Iterable[Batch], schema: Schema, ledger: Ledger) -> None:
    """Writes batches as a Parquet file with that schema, in row groups of a size that reads well."""
    arrow, parquet = require_pyarrow(), require_parquet()
    noted = schema.with_metadata({_LEDGER_KEY: ledger.encode()})
    with parquet.ParquetWriter(file, noted, compression="zstd") as writer:
        held: list[Batch] = []
        for batch in batches:
            held.append(fit(batch, schema))
            if sum(each.num_rows for each in held) >= _ROWS_PER_GROUP:
                writer.write_table(arrow.Table.from_batches(held, schema))
                held = []
        if held:
            writer.write_table(arrow.Table.from_batches(held, schema))


def read_ledger(storage: Storage, name: str) -> tuple[Schema, Ledger]:
    """A part's columns and traces, from its footer.

    Raises:
        UnjankError: The file is not a part.
    """
    arrow, parquet = require_pyarrow(), require_parquet()
    try:
        with storage.arrow_footer(name) as file:
            schema = parquet.read_schema(file)
        return schema.remove_metadata(), Ledger.decode((schema.metadata or {}).get(_LEDGER_KEY, b"null"))
    except (arrow.ArrowException, ValueError, TypeError, KeyError) as error:
        raise UnjankError(
            f"{storage.url}/{name}: is not a part of a fleet's result ({error}); move it elsewhere"
        ) from None


def read_table(storage: Storage, name: str) -> Any:  # noqa: ANN401  a pyarrow.Table
    """All rows of a Parquet file."""
    with storage.arrow_file(name) as file:
        return require_parquet().ParquetFile(file).read()


def rewrite(storage: Storage, name: str, schema: Schema, without: frozenset[str]) -> None:
    """Writes a part again: with that schema, and without the rows and entries of some traces."""
    arrow, parquet = require_pyarrow(), require_parquet()
    _, ledger = read_ledger(storage, name)
    with storage.arrow_file(name) as old:
        kept = tuple(entry for entry in ledger.entries if entry.trace not in without)
        batches = parquet.ParquetFile(old).iter_batches(_ROWS_PER_GROUP)
        if without:
            names = arrow.array(sorted(without), arrow.string())
            batches = (_without(batch, names) for batch in batches)
        with storage.replace(name) as file:
            write_rows(file, batches, schema, Ledger(ledger.run, kept))


def trace_columns(entry: Entry) -> dict[str, str | None]:
    """The columns that say which trace a row is of."""
    facts: dict[str, str | None] = {**dict.fromkeys(FACT_NAMES), **entry.facts}
    return {NAME_COLUMN: entry.trace, **{COLUMN_PREFIX + key: value for key, value in facts.items()}}


def least_schema() -> Schema:
    """The columns of a part without rows, so that one of failed traces fits beside the others."""
    arrow = require_pyarrow()
    return arrow.schema([(name, arrow.string()) for name in trace_columns(Entry(""))])


class _Spool:
    """Batches put aside, each with its own types, until the widest of those is known."""

    def __init__(self) -> None:
        self._file: Any = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115  closed by commit
        self._sizes: list[int] = []

    def write(self, batch: Batch) -> None:
        arrow = require_pyarrow()
        buffer = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(buffer, batch.schema) as stream:
            stream.write_batch(batch)
        self._sizes.append(self._file.write(buffer.getvalue()))

    def read(self) -> Iterator[Batch]:
        arrow = require_pyarrow()
        self._file.seek(0)
        for size in self._sizes:
            yield from arrow.ipc.open_stream(self._file.read(size))

    def close(self) -> None:
        self._file.close()


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(names).encode()).hexdigest()[:24]


def _without(batch: Batch, names: Any) -> Batch:  # noqa: ANN401  a pyarrow.Array
    compute = require_compute()
    return batch.filter(compute.invert(compute.is_in(batch.column(NAME_COLUMN), value_set=names)))
