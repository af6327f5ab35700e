"""The engine in a process of its own, which is ended when a query takes too long, and started again.

A query cannot be stopped from outside while the engine runs it, and a thread cannot be killed; a process can.
"""

import multiprocessing
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType

from unjank import EngineError, QueryError, TraceError
from unjank.mcp._engine_main import engine_main
from unjank.mcp._messages import Failed, FindAll, Found, Opened, Opening, Reply, Request, Rows, RunSql

OPENING_SECONDS = 300.0
COUNTING_SECONDS = 2.0  # beyond the rows that were wanted, as long as the deadline allows


class EngineProcess:
    """One trace in a process; one request at a time, from any thread.

    Args:
        opening: The trace. It is read at the first request.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self.notes: list[str] = []

    def __enter__(self) -> "EngineProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run_sql(self, sql: str, most_rows: int, deadline: float) -> Rows:
        """Runs SQL.

        Args:
            sql: Statements; the rows are those of the last one.
            most_rows: How many rows to return.
            deadline: Seconds it may take, not counting the time to read the trace.

        Returns:
            The first rows. `total` is None if there are more that were not counted in time.

        Raises:
            QueryError: A statement is wrong, or took too long.
            TraceError: The trace cannot be read, or made the engine abort.
            EngineError: The engine's process ended.
        """
        end = self._send(RunSql(sql, most_rows), deadline)
        reply = self._receive(end)
        if isinstance(reply, Rows) and reply.total is None:
            # More rows than wanted: there is a second message, unless counting takes too long.
            return self._counted(reply, min(end, time.monotonic() + COUNTING_SECONDS))
        if reply is None:
            self._end()
            raise QueryError(
                f"stopped after {deadline:g} s: look at fewer rows, filter before joining, or allow more time"
            )
        assert isinstance(reply, Rows), "rows answer SQL"
        return reply

    def find_all(self, deadline: float) -> Found:
        """Applies all rules; arguments and errors as for `run_sql`."""
        reply = self._receive(self._send(FindAll(), deadline))
        if reply is None:
            self._end()
            raise QueryError(f"stopped after {deadline:g} s: the findings took too long")
        assert isinstance(reply, Found), "findings answer the rules"
        return reply

    def close(self) -> None:
        """Ends the process, whatever it does; the next request would start another."""
        self._end()

    def _counted(self, first: Rows, end: float) -> Rows:
        reply = self._receive(end)
        if isinstance(reply, Rows):
            return reply
        self._end()
        return first

    def _send(self, request: Request, deadline: float) -> float:
        """Sends a request and returns when its answer is due, on the monotonic clock."""
        connection = self._connection or self._start()
        try:
            connection.send(request)
        except (BrokenPipeError, ConnectionResetError):
            # It ended between two requests, such as for lack of memory in the system.
            self._end()
            self._start().send(request)
        return time.monotonic() + deadline

    def _receive(self, end: float) -> Reply | None:
        """The next message, None if there is none in time."""
        assert self._connection is not None, "a request was sent"
        try:
            if not self._connection.poll(max(0.0, end - time.monotonic())):
                return None
            reply: Reply = self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise EngineError(self._epitaph()) from None
        except BaseException:
            self._end()  # a half-read answer must not be taken for the next one
            raise
        if isinstance(reply, Failed):
            if reply.fatal:
                self._end()
                raise TraceError(reply.message)
            raise QueryError(reply.message)
        return reply

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")  # not fork: the server has threads
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=engine_main, args=(theirs, self._opening), name="unjank engine", daemon=True
        )
        self._process.start()
        theirs.close()
        self._await_opened(self._connection)
        return self._connection

    def _await_opened(self, connection: Connection) -> None:
        if not connection.poll(OPENING_SECONDS):
            self._end()
            raise TraceError(f"{self._opening.trace}: was not read within {OPENING_SECONDS:g} s")
        try:
            opened: Opened | Failed = connection.recv()
        except EOFError:
            raise EngineError(self._epitaph()) from None
        if isinstance(opened, Failed):
            self._end()
            raise TraceError(opened.message)
        self.notes = opened.notes

    def _epitaph(self) -> str:
        """Ends what is left of a process that died, and says how it did."""
        process = self._process
        if process:
            process.join(1)
        code = process.exitcode if process else None
        self._end()
        return f"the engine's process ended (exit code {code}), perhaps for lack of memory; ask for less"

    def _end(self) -> None:
        if self._connection:
            self._connection.close()
        if self._process:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._connection = self._process = None
