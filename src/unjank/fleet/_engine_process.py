"""The supervisor's end of a worker's process: start, requests, frames, limits, end."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Pipe
from types import TracebackType
from typing import IO

from unjank._errors import EngineError
from unjank.fleet import _descendants
from unjank.fleet._job import Job
from unjank.fleet._machine import WORKER_OVERHEAD_BYTES
from unjank.fleet._wire import SCRATCH_PREFIX, Event, receive, send_event

_START_SECONDS = 300.0  # the first start on a machine compiles the engine
_END_SECONDS = 5.0
_LOOK_SECONDS = 0.1  # how often memory is looked at
_MIB = 1 << 20
# perfetto imports pandas and polars where they are installed. Without, each worker starts sooner and smaller.
_PROGRAM = """
import sys
sys.modules.update(dict.fromkeys(("numpy", "pandas", "polars")))
from unjank.fleet._engine_host import main
main({fd})
"""


class OverrunError(Exception):
    """A trace took more than its limits; the process has to be ended. The message is the cause."""


class ProcessDiedError(Exception):
    """The process is gone; the message tells how."""


@dataclass
class _Watch:
    """When to give up on the request at work, and when to look at memory next (monotonic seconds)."""

    deadline: float
    next_look: float


class EngineProcess:
    """One worker's process: begun at once, with an engine after `start`.

    So several can import what they need side by side, and the one that comes first compiles the engine
    where that is still to be done.
    """

    def __init__(self, job: Job) -> None:
        assert job.limits.memory_bytes is not None, "the share of memory is decided before"
        self._job, self._limits = job, job.limits
        self._started = False
        self._memory_limit = job.limits.memory_bytes + WORKER_OVERHEAD_BYTES
        self._last_words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by kill
        # Its temporary files go with it, however it ends.
        self._scratch = tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX)
        self._connection, theirs = Pipe()
        program = _PROGRAM.format(fd=theirs.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", program],  # -P: nothing is imported from the current folder
            pass_fds=[theirs.fileno()],
            env={**os.environ, "TMPDIR": self._scratch.name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._last_words,
            start_new_session=True,  # Ctrl-C is the supervisor's to handle
        )
        theirs.close()
        self._tree = _descendants.tree(self._process.pid)
        self._watch = _Watch(0.0, 0.0)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def start(self) -> None:
        """Starts the engine and waits for it; does nothing where it has started.

        Raises:
            EngineError: The process has no engine to offer; the message says what is missing.
            ProcessDiedError: It died before it could say so.
        """
        if self._started:
            return
        self.request(self._job.to_wire(), _START_SECONDS)
        event = self.next_frame()
        assert isinstance(event, dict), "rows come after requests"
        if event["event"] == "unavailable":
            raise EngineError(event["cause"])
        self._started = True

    def request(self, request: Event, seconds: float | None = None) -> None:
        """Sends a request; its time starts now.

        Raises:
            ProcessDiedError: The process is gone.
        """
        now = time.monotonic()
        self._watch = _Watch(now + (seconds or self._limits.seconds), now + _LOOK_SECONDS)
        try:
            send_event(self._connection, request)
        except OSError:
            raise self._died() from None

    def next_frame(self) -> Event | bytes:
        """Waits for the next frame of the answer.

        Raises:
            OverrunError: The request took more time or memory than it may.
            ProcessDiedError: The process is gone.
        """
        try:
            while not self._connection.poll(self._seconds_to_wait()):
                self._require_within_limits()
            self._require_within_limits()
            return receive(self._connection)
        except (EOFError, OSError, json.JSONDecodeError):
            raise self._died() from None

    def end(self) -> None:
        """Asks the process to end, and ends it if it does not."""
        try:
            send_event(self._connection, {"end": True})
            self._process.wait(_END_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass  # it is busy, or gone already; what is left of it is ended below
        self.kill()

    def kill_from_outside(self) -> None:
        """Ends the process; for a thread that does not own it, whose owner then sees it die."""
        _descendants.end(self._tree[:1])

    def kill(self) -> None:
        """Ends the process and all below it at once."""
        if self._process.poll() is None:
            self._tree = _descendants.tree(self._process.pid) or self._tree
        _descendants.end(self._tree)
        self._process.wait()
        self._connection.close()
        self._last_words.close()
        self._scratch.cleanup()

    def __enter__(self) -> "EngineProcess":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.end()

    def _seconds_to_wait(self) -> float:
        return max(0.0, min(self._watch.deadline - time.monotonic(), _LOOK_SECONDS))

    def _require_within_limits(self) -> None:
        now = time.monotonic()
        if now >= self._watch.deadline:
            raise OverrunError(f"took longer than {self._limits.seconds:g} s; raise --timeout")
        if now < self._watch.next_look:
            return
        self._watch.next_look = now + _LOOK_SECONDS
        self._tree = _descendants.tree(self._process.pid) or self._tree
        used = _descendants.resident_bytes(self._tree)
        if used > self._memory_limit:
            limit = self._memory_limit - WORKER_OVERHEAD_BYTES
            raise OverrunError(f"needs more than {limit // _MIB} MiB of memory; raise --memory")

    def _died(self) -> ProcessDiedError:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return ProcessDiedError("the worker's process closed its connection")
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self._last_words.seek(0)
        lines = self._last_words.read()[-4096:].decode("utf-8", "replace").strip().splitlines()
        return ProcessDiedError(f"the worker's process {how}" + (f": {lines[-1]}" if lines else ""))
