"""The engine's process: reads one trace, then answers requests until its parent is gone.

It ends at once when its parent dies, and never writes to the standard output, which is the server's.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait

from unjank import UnjankError
from unjank.mcp._messages import Cell, Failed, FindAll, Found, Opened, Opening, Reply, Request, Rows, RunSql
from unjank.trace import ResultBatch, SqlError, TraceProcessor, Value

LONGEST_TEXT = 4000  # characters of one cell


def engine_main(connection: Connection, opening: Opening) -> None:
    """Runs in the child; `connection` leads to the parent."""
    _detach()
    try:
        with TraceProcessor(opening.trace, engine=opening.engine, shell_path=opening.shell_path) as tp:
            connection.send(Opened(list(tp.notes)))
            _answer_all(connection, tp)
    except UnjankError as error:
        connection.send(Failed(str(error), fatal=True))
    except (EOFError, BrokenPipeError):
        return  # the parent is gone


def _detach() -> None:
    """Leaves the terminal's Ctrl-C to the parent, ends with it, and keeps off its input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Not by PR_SET_PDEATHSIG: that means the parent's thread, which may end long before the parent.
    threading.Thread(target=_end_with_parent, name="unjank parent", daemon=True).start()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)


def _end_with_parent() -> None:
    """Waits for the parent's end; the engine, in native code, would not notice it during a query."""
    parent = multiprocessing.parent_process()
    if parent:
        wait([parent.sentinel])
        os._exit(1)


def _answer_all(connection: Connection, tp: TraceProcessor) -> None:
    while True:
        request: Request = connection.recv()
        connection.send(_answer(request, tp, connection.send))


def _answer(request: Request, tp: TraceProcessor, send_early: Callable[[Reply], None]) -> Reply:
    try:
        if isinstance(request, RunSql):
            return _run_sql(request, tp, send_early)
        return _find_all(request, tp)
    except SqlError as error:
        return Failed(error.engine_text if error.position else str(error))


def _run_sql(request: RunSql, tp: TraceProcessor, send_early: Callable[[Reply], None]) -> Rows:
    """Collects the rows that are wanted and counts the others.

    As soon as there are more rows than wanted, those are sent: counting may take longer than the deadline.
    """
    columns: list[str] = []
    rows: list[list[Cell]] = []
    total, sent = 0, False

    def collect(batch: ResultBatch) -> None:
        nonlocal columns, total, sent
        columns = list(batch.columns)
        total += batch.row_count
        wanted = request.most_rows - len(rows)
        if wanted > 0:
            rows.extend(
                [_cell(value) for value in row] for row, _ in zip(batch.rows(), range(wanted), strict=False)
            )
        if total > request.most_rows and not sent:
            sent = True
            send_early(Rows(columns, rows, None))

    tp.stream(request.sql, collect)
    return Rows(columns, rows, total)


def _find_all(_: FindAll, tp: TraceProcessor) -> Found:
    from unjank.findings import find_all

    found = find_all(tp)
    return Found([finding.to_dict() for finding in found.findings], list(found.notes))


def _cell(value: Value) -> Cell:
    """A value as JSON can hold it, long texts cut, bytes as hexadecimal."""
    if isinstance(value, bytes):
        value = value.hex()
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
    if isinstance(value, float) and not (-float("inf") < value < float("inf")):
        return str(value)
    return value
