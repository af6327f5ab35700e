"""The folder of a result: what is done, what is not, and the tables that are made of it at the end.

`results/part-*.parquet` are the truth. `errors.parquet` and `traces.parquet` are made from their footers, and
can be made again. `fleet.json` says which question the rows answer.
"""

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unjank._errors import UnjankError
from unjank._version import __version__
from unjank.fleet._columns import Schema, widest_schema
from unjank.fleet._extras import require_parquet, require_pyarrow
from unjank.fleet._footers import FooterCache
from unjank.fleet._job import Job
from unjank.fleet._part import RESULTS, Entry, Ledger, least_schema, rewrite, trace_columns
from unjank.fleet._storage import LocalFolder, Storage

ERRORS, TRACES, MANIFEST = "errors.parquet", "traces.parquet", "fleet.json"
UNFINISHED = "the run did not end, and the table traces is written at its end; go on with --resume"
_SCHEMA = "unjank.fleet-run/1"
_LOCK = ".lock"
_ENTRIES_PER_GROUP = 50_000
_ERRORS_EVERY_SECONDS = 5.0


@dataclass(frozen=True)
class Totals:
    """How many traces gave rows, how many rows, how many traces failed."""

    traces: int = 0
    rows: int = 0
    failed: int = 0


class Dataset:
    """The result in a folder.

    Attributes:
        storage: The folder.
        run: How many times the command has worked on it.
    """

    def __init__(self, storage: Storage, run: int) -> None:
        self.storage = storage
        self.run = run
        self._footers = FooterCache(storage)

    @classmethod
    def begin(cls, storage: Storage, job: Job, *, resume: bool) -> "Dataset":
        """Starts a new result, or goes on with the one that is there.

        Raises:
            UnjankError: There is one and `resume` is not set, or it answers another question.
        """
        before = _read_manifest(storage)
        if before is None and storage.names(RESULTS):
            raise UnjankError(f"{storage.url}/{RESULTS}: holds other files; choose another folder")
        if before and not resume:
            raise UnjankError(f"{storage.url}: holds a result; go on with --resume, or choose another folder")
        if before and before["fingerprint"] != job.fingerprint:
            raise UnjankError(f"{storage.url}: holds the result of other SQL; choose another folder")
        run = (before["run"] if before else 0) + 1
        _write_manifest(storage, job, run)
        dataset = cls(storage, run)
        if before is None:
            dataset.write_errors([])
        return dataset

    @classmethod
    def open(cls, storage: Storage) -> "Dataset":
        """The result that is there.

        Raises:
            UnjankError: There is none.
        """
        manifest = _read_manifest(storage)
        if manifest is None:
            raise UnjankError(f"{storage.url}: holds no result of unjank fleet")
        return cls(storage, manifest["run"])

    def part_names(self) -> list[str]:
        """The files with rows."""
        return [name for name in self.storage.names(RESULTS) if name.endswith(".parquet")]

    def ledgers(self) -> Iterator[tuple[str, Schema, Ledger]]:
        """Of each part its name, columns and traces."""
        yield from self._footers.read(self.part_names())

    def done(self, *, retry_failed: bool) -> set[str]:
        """Names of the traces that need not be looked at again."""
        found: set[str] = set()
        for _, _, ledger in self.ledgers():
            found.update(entry.trace for entry in ledger.entries if not (retry_failed and entry.failed))
        return found

    def schema(self) -> Schema:
        """The columns of all parts together; of no parts, those that any would have."""
        return widest_schema([least_schema(), *(schema for _, schema, _ in self.ledgers())])

    def finish(self) -> Totals:
        """Brings all parts to the same columns and types, and writes the tables of traces and errors.

        May be called again, also after it was interrupted.
        """
        self._footers = FooterCache(self.storage)  # a failed trace tried again may have replaced its part
        self._make_uniform()
        return self._write_tables()

    def write_errors(self, failed: Iterable[Entry]) -> None:
        """Writes the table of errors, by the traces' names."""
        rows = sorted((entry.trace, entry.stage, entry.cause) for entry in failed)
        arrow = require_pyarrow()
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        names = ("trace", "stage", "cause")
        table = arrow.table([arrow.array(column, arrow.string()) for column in columns], names=list(names))
        with self.storage.replace(ERRORS) as file:
            require_parquet().write_table(table, file)

    def _make_uniform(self) -> None:
        schema = self.schema()
        owner = _owners(self.ledgers())
        for name, found, ledger in self.ledgers():
            foreign = frozenset(entry.trace for entry in ledger.entries if owner[entry.trace] != name)
            if len(foreign) == len(ledger.entries):
                self.storage.remove(name)
            elif foreign or found != schema:
                rewrite(self.storage, name, schema, foreign)
                self._footers.forget(name)

    def _write_tables(self) -> Totals:
        traces = rows = 0
        failed: list[Entry] = []
        facts = {
            key: None for _, _, ledger in self.ledgers() for entry in ledger.entries for key in entry.facts
        }
        with _TracesTable(self.storage, list(facts)) as table:
            for _, _, ledger in self.ledgers():
                table.add(ledger.entries)
                failed += [entry for entry in ledger.entries if entry.failed]
                traces += sum(not entry.failed for entry in ledger.entries)
                rows += sum(entry.rows for entry in ledger.entries)
        self.write_errors(failed)
        return Totals(traces, rows, len(failed))


class ErrorLog:
    """Keeps the table of errors up to date while parts are committed, by any thread.

    Written again at most every few seconds; the parts' footers have every error at once.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._failed = [
            entry for _, _, ledger in dataset.ledgers() for entry in ledger.entries if entry.failed
        ]
        self._written = time.monotonic()
        self._lock = threading.Lock()

    def add(self, entries: Iterable[Entry]) -> None:
        """Takes in what became of the traces of a part."""
        failed = [entry for entry in entries if entry.failed]
        with self._lock:
            self._failed += failed
            if failed and time.monotonic() - self._written > _ERRORS_EVERY_SECONDS:
                self._dataset.write_errors(self._failed)
                self._written = time.monotonic()


class _TracesTable:
    """Writes `traces.parquet`, part by part, so that a million traces need not fit into memory."""

    def __init__(self, storage: Storage, facts: list[str]) -> None:
        arrow, self._parquet = require_pyarrow(), require_parquet()
        text = arrow.string()
        columns = trace_columns(Entry("", facts=dict.fromkeys(facts, "")))
        self._schema = arrow.schema(
            [*((name, text) for name in columns), ("status", text), ("rows", arrow.int64()), ("notes", text)]
        )
        self._committing = storage.replace(TRACES)
        self._held: list[dict[str, Any]] = []

    def __enter__(self) -> "_TracesTable":
        self._writer = self._parquet.ParquetWriter(self._committing.__enter__(), self._schema)
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401  handed on as it comes
        if error[0] is None:
            self._flush()
        self._writer.close()
        self._committing.__exit__(*error)

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            status = "failed" if entry.failed else "ok"
            more = {"status": status, "rows": entry.rows, "notes": "\n".join(entry.notes) or None}
            self._held.append({**trace_columns(entry), **more})
        if len(self._held) >= _ENTRIES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(require_pyarrow().Table.from_pylist(self._held, self._schema))
            self._held = []


@contextmanager
def locked(storage: Storage) -> Iterator[None]:
    """Keeps a second run on this machine away from a local folder.

    Raises:
        UnjankError: There is one, or the folder cannot be made.
    """
    if not isinstance(storage, LocalFolder):
        yield
        return
    try:
        storage.path.mkdir(parents=True, exist_ok=True)
        fd = os.open(storage.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UnjankError(f"{storage.path}: can't be written: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_unfinished(storage.path)
        yield
    except BlockingIOError:
        raise UnjankError(f"{storage.path}: another run writes there; wait for it") from None
    finally:
        os.close(fd)


def _remove_unfinished(folder: Path) -> None:
    """Files of a run that was killed; its own and its workers' only, as the lock says that it is over."""
    for path in [*folder.glob(".*.tmp"), *(folder / RESULTS).glob(".*.tmp")]:
        path.unlink(missing_ok=True)


def _owners(ledgers: Iterable[tuple[str, Schema, Ledger]]) -> dict[str, str]:
    """Which part each trace's rows are taken from: one without an error, of the latest run.

    A trace is in two parts where a failed one was tried again, or where a worker of an earlier run, which
    nobody could reach, still finished its work.
    """
    best: dict[str, tuple[bool, int, str]] = {}
    for name, _, ledger in ledgers:
        for entry in ledger.entries:
            rank = (not entry.failed, ledger.run, name)
            best[entry.trace] = max(best.get(entry.trace, rank), rank)
    return {trace: name for trace, (_, _, name) in best.items()}


def _read_manifest(storage: Storage) -> dict[str, Any] | None:
    if not storage.exists(MANIFEST):
        return None
    with storage.open(MANIFEST) as file:
        try:
            manifest = json.load(file)
            if manifest["schema"] != _SCHEMA:
                raise ValueError(f"schema {manifest['schema']}")
        except (ValueError, TypeError, KeyError) as error:
            raise UnjankError(f"{storage.url}/{MANIFEST}: can't be read ({error}); remove it") from None
    return dict(manifest)


def _write_manifest(storage: Storage, job: Job, run: int) -> None:
    manifest = {
        "schema": _SCHEMA,
        "unjank": __version__,
        "fingerprint": job.fingerprint,
        "sql": job.sql,
        "run": run,
    }
    with storage.replace(MANIFEST) as file:
        file.write(json.dumps(manifest, indent=1).encode() + b"\n")
