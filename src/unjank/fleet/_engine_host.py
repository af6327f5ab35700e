"""A worker's process: one engine, one trace after the other. Started and ended by a supervisor.

The process may be killed at any moment; nothing that counts is in it.
"""

import json
import os
import queue
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, cast

from unjank._errors import UnjankError
from unjank.findings import Finding, find_all
from unjank.fleet import _descendants
from unjank.fleet._fetch import Fetcher
from unjank.fleet._job import Job
from unjank.fleet._metadata import read_facts
from unjank.fleet._shell_server import shell_server
from unjank.fleet._wire import SCRATCH_PREFIX, Event, receive, send_cells, send_event
from unjank.trace import EngineDiedError, EngineName, ResultBatch, TraceProcessor
from unjank.trace.shell import find_shell

Stage = Literal["fetch", "load", "query"]
FINDING_COLUMNS = (
    "kind",
    "severity",
    "process",
    "thread",
    "owner",
    "where",
    "owner_where",
    "ts_ns",
    "dur_ns",
    "count",
    "detail",
    "advice",
)
_ROWS_PER_EVENT = 1000
_EMPTY_PACKET = b"\x0a\x00"  # the smallest trace; without any, the engine has no tables


class ResultTooLargeError(UnjankError):
    """A trace's result is beyond the limits."""


class _Failed(Exception):  # noqa: N818  control flow within this file
    """What the table of errors will say."""

    def __init__(self, stage: Stage, cause: str) -> None:
        super().__init__(cause)
        self.stage = stage
        self.cause = cause


class EngineHost:
    """Answers requests with the rows of one trace each."""

    def __init__(self, connection: Connection, job: Job) -> None:
        self._connection = connection
        self._job = job
        self._fetcher = Fetcher()
        self._tp: TraceProcessor | None = None
        self._shell = ""
        self._columns: tuple[str, ...] | None = None
        self._rows = self._bytes = 0

    def start(self) -> None:
        """Starts the engine, and tells that it is there or why not."""
        try:
            if self._job.engine == "shell":
                self._shell = find_shell(self._job.shell_path)
            else:
                self._tp = self._open()
        except UnjankError as error:
            self._send({"event": "unavailable", "cause": str(error)})
        else:
            self._send({"event": "ready"})

    def answer(self, request: Event) -> None:
        """Loads the trace, sends its rows, then what became of it."""
        try:
            if request.get("check"):
                self._check()
                return
            self._answer_trace(request["trace"], request.get("next"))
        except _Failed as failed:
            self._send({"event": "failed", "stage": failed.stage, "cause": failed.cause})

    def close(self) -> None:
        """Frees the engine and the fetched files."""
        if self._tp:
            self._tp.close()
        self._fetcher.close()

    def _answer_trace(self, name: str, following: str | None) -> None:
        self._columns, self._rows, self._bytes = None, 0, 0
        self._send({"event": "stage", "stage": "fetch"})
        with _stage("fetch", name):
            path = self._fetcher.get(name)
        if following:
            self._fetcher.expect(following)
        try:
            self._send({"event": "stage", "stage": "load"})
            with _stage("load", path), self._loaded(path) as tp:
                facts, notes = read_facts(tp), list(tp.notes)
                self._send({"event": "stage", "stage": "query"})
                with _stage("query", path):
                    self._ask(tp)
        finally:
            self._fetcher.done(name, path)
        self._send({"event": "done", "rows": self._rows, "facts": facts, "notes": notes})

    @contextmanager
    def _loaded(self, path: Path | bytes) -> Iterator[TraceProcessor]:
        if self._shell:
            with shell_server(self._shell) as address, TraceProcessor(path, addr=address) as tp:
                self._require_complete(tp)
                yield tp
            return
        assert self._tp is not None, "started before the first request"
        self._tp.load(path)
        self._require_complete(self._tp)
        yield self._tp

    def _open(self) -> TraceProcessor:
        engine = cast("EngineName | None", self._job.engine)
        return TraceProcessor(engine=engine, memory_limit=self._job.limits.memory_bytes)

    def _require_complete(self, tp: TraceProcessor) -> None:
        if tp.incomplete and not self._job.accept_incomplete:
            raise _Failed("load", f"{tp.incomplete}; accept such traces with --accept-incomplete")

    def _check(self) -> None:
        """Runs the SQL on a trace without events, which finds what is wrong with it everywhere."""
        with _stage("query", "no trace"), self._loaded(_EMPTY_PACKET) as tp:
            if self._job.sql is not None:
                tp.stream(self._job.sql, lambda batch: self._count(batch.row_count, 0))
        self._send({"event": "done", "rows": 0, "facts": {}, "notes": []})

    def _ask(self, tp: TraceProcessor) -> None:
        if self._job.sql is None:
            self._send_findings(find_all(tp).findings)
        else:
            tp.stream(self._job.sql, self._send_batch)

    def _send_batch(self, batch: ResultBatch) -> None:
        cells = batch.cells.SerializeToString()
        self._count(batch.row_count, len(cells))
        if self._columns is None:
            self._columns = batch.columns
            self._send({"event": "columns", "names": list(batch.columns)})
        send_cells(self._connection, cells)

    def _send_findings(self, findings: tuple[Finding, ...]) -> None:
        self._count(len(findings), 0)
        self._send({"event": "columns", "names": list(FINDING_COLUMNS)})
        rows = [_finding_row(finding) for finding in findings]
        for start in range(0, len(rows), _ROWS_PER_EVENT):
            self._send({"event": "rows", "rows": rows[start : start + _ROWS_PER_EVENT]})

    def _count(self, rows: int, size: int) -> None:
        limits = self._job.limits
        self._rows += rows
        self._bytes += size
        if self._rows > limits.rows:
            raise ResultTooLargeError(f"more than {limits.rows} rows; raise --max-rows, or aggregate in SQL")
        if self._bytes > limits.result_bytes:
            raise ResultTooLargeError(
                f"a result of more than {limits.result_bytes >> 20} MiB; raise --max-result, or select less"
            )

    def _send(self, event: Event) -> None:
        send_event(self._connection, event)


def main(fd: int) -> None:
    """The whole life of the process: a job, then requests until the supervisor goes away."""
    connection = Connection(fd)
    requests: queue.SimpleQueue[Event] = queue.SimpleQueue()
    host = EngineHost(connection, Job.from_wire(_received(connection)))
    threading.Thread(target=_receive_all, args=(connection, requests), daemon=True).start()
    host.start()
    while not (request := requests.get()).get("end"):
        host.answer(request)
    host.close()


def _receive_all(connection: Connection, requests: "queue.SimpleQueue[Event]") -> None:
    """Hands on requests. Without a supervisor there is nobody to end an endless query, so all ends here."""
    try:
        while True:
            requests.put(_received(connection))
    except (EOFError, OSError):
        _descendants.end(_descendants.tree(os.getpid())[1:])
        scratch = Path(os.environ.get("TMPDIR", ""))
        if scratch.name.startswith(SCRATCH_PREFIX):  # made by the supervisor, which can't remove it any more
            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(1)


def _received(connection: Connection) -> dict[str, Any]:
    event = receive(connection)
    assert isinstance(event, dict), "only workers send rows"
    return event


@contextmanager
def _stage(stage: Stage, name: str | Path) -> Iterator[None]:
    """Turns what goes wrong in a stage into a row for the table of errors."""
    try:
        yield
    except EngineDiedError as error:
        raise _Failed(stage, str(error)) from error
    except UnjankError as error:
        raise _Failed(stage, _cause(error, str(name))) from error
    except _Failed:
        raise
    except Exception as error:
        # A rule of ours that a strange trace breaks must not cost the other traces their rows.
        raise _Failed(stage, f"internal error: {type(error).__name__}: {error}") from error


def _cause(error: UnjankError, name: str) -> str:
    died = error.__cause__
    if isinstance(died, EngineDiedError) and died.out_of_memory:
        return f"{str(died).partition(', which')[0]}; raise --memory"
    return str(error).removeprefix(f"{name}: ")


def _finding_row(finding: Finding) -> list[object]:
    values = finding.to_dict()
    detail = json.dumps(values["detail"], sort_keys=True)
    return [detail if name == "detail" else values[name] for name in FINDING_COLUMNS]
