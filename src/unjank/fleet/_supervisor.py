"""Puts one trace after the other to a worker's process, ends the process that overruns, starts another."""

import threading
from types import TracebackType
from typing import Any

from unjank.fleet._columns import Batch, batch_of_cells, batch_of_rows
from unjank.fleet._engine_process import EngineProcess, OverrunError, ProcessDiedError
from unjank.fleet._job import Job
from unjank.fleet._outcome import Failure, Outcome
from unjank.fleet._trace import Trace
from unjank.fleet._wire import Event

# A process that dies without a word was most likely ended by somebody (the kernel, out of memory): another
# try is worth it. One that dies again and again does so because of the trace.
_TRIES = 3
_CHECK_SECONDS = 20.0


class StoppedError(Exception):
    """The supervisor was told to stop while a trace was at work."""


class Supervisor:
    """One worker of the fleet, as the rest of the program sees it. Used by one thread, stopped by any.

    Args:
        job: What to ask; its share of memory is decided.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: EngineProcess | None = None
        self._stopped = threading.Event()

    @property
    def pid(self) -> int | None:
        """The id of the process at work, None while there is none."""
        return self._process.pid if self._process else None

    def prepare(self) -> None:
        """Begins the process, which needs a while until it can be asked."""
        if self._process is None:
            self._process = EngineProcess(self._job)

    def run(self, trace: Trace, following: Trace | None = None) -> Outcome:
        """The rows of one trace, or why there are none.

        Args:
            trace: Which.
            following: What comes next, to be read ahead.

        Raises:
            StoppedError: `stop` was called.
            EngineError: There is no engine on this machine.
        """
        request = {"trace": trace.place, "next": following.place if following else None}
        died = ""
        for _ in range(_TRIES):
            answer = _Answer(trace)
            try:
                self._ask(request, answer)
            except OverrunError as overrun:
                return answer.failed(str(overrun))
            except ProcessDiedError as error:
                died = str(error)
            else:
                return answer.outcome()
        return Outcome(trace, failure=Failure("worker", f"{died}, {_TRIES} times"))

    def check(self) -> Failure | None:
        """Asks a trace without events, to find what is wrong with the SQL itself; None if nothing is.

        Raises:
            EngineError: There is no engine on this machine.
        """
        answer = _Answer(Trace("no trace"))
        try:
            self._ask({"check": True}, answer, _CHECK_SECONDS)
        except (OverrunError, ProcessDiedError):
            return None  # not known; each trace will tell
        return answer.outcome().failure

    def stop(self) -> None:
        """Makes `run` end with StoppedError, now and from now on."""
        self._stopped.set()
        process = self._process
        if process:
            process.kill_from_outside()

    def close(self) -> None:
        """Ends the process."""
        if self._process:
            self._process.end()
            self._process = None

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: Event, answer: "_Answer", seconds: float | None = None) -> None:
        try:
            self.prepare()
            assert self._process is not None, "made by prepare"
            if self._stopped.is_set():
                raise StoppedError
            self._process.start()
            self._process.request(request, seconds)
            while not answer.complete:
                answer.take(self._process.next_frame())
        except BaseException:
            self._discard()
            if self._stopped.is_set():
                raise StoppedError from None
            raise

    def _discard(self) -> None:
        if self._process:
            self._process.kill()
            self._process = None


class _Answer:
    """Puts the frames of one answer together."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._stage = "fetch"
        self._names: list[str] = []
        self._batches: list[Batch] = []
        self._last: Event | None = None
        # Imported here, where the processes have begun already.
        from unjank.trace.protos import shared_protos

        # Found through a message: protobuf's Python implementation has no attribute for a nested class.
        self._message: Any = type(shared_protos().QueryResult().batch.add())

    @property
    def complete(self) -> bool:
        """Whether the last frame came."""
        return self._last is not None

    def take(self, frame: Event | bytes) -> None:
        """Takes in a frame."""
        if isinstance(frame, bytes):
            self._batches.append(batch_of_cells(self._names, self._message.FromString(frame)))
            return
        match frame["event"]:
            case "stage":
                self._stage = frame["stage"]
            case "columns":
                self._names = list(frame["names"])
            case "rows":
                self._batches.append(batch_of_rows(self._names, frame["rows"]))
            case _:
                self._last = frame

    def outcome(self) -> Outcome:
        """What came of it, once complete."""
        assert self._last is not None
        if self._last["event"] == "failed":
            return Outcome(self._trace, failure=Failure(self._last["stage"], self._last["cause"]))
        batches = self._batches or [batch_of_rows(self._names, [])]
        return Outcome(self._trace, tuple(batches), self._last["facts"], tuple(self._last["notes"]))

    def failed(self, cause: str) -> Outcome:
        """The outcome where it never became complete."""
        return Outcome(self._trace, failure=Failure(self._stage, cause))
