"""Recording from within a program: `with unjank.record("out.pftrace"): ...`."""

import os
import sys
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from unjank import _record
from unjank._errors import RecordError, SchedulingUnavailableError
from unjank._version import __version__
from unjank.record._facts import session_facts
from unjank.record._patch import Patch

if TYPE_CHECKING:
    from unjank.record.sched import ChosenLevel, FtraceSession, LevelName

Sched = Literal["auto", "ftrace", "procfs", "off"]


def create_trace_file(path: Path) -> _record.TraceFile:
    """Creates or empties the trace file.

    Raises:
        RecordError: It cannot be written there.
    """
    try:
        return _record.TraceFile(str(path.absolute()))
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordError(
            f"cannot write the trace to {path}: {reason}; choose another place (unjank run: with -o)"
        ) from error


def start_ftrace(file: _record.TraceFile) -> "FtraceSession":
    """Starts the recording of the kernel's scheduling into the same file.

    Raises:
        SchedulingUnavailableError: The kernel refuses.
    """
    from unjank.record.sched import FtraceSession

    shared_fd = file.share()
    try:
        session = FtraceSession(Path(file.path), shared_fd)
        session.start()
    finally:
        os.close(shared_fd)
    return session


def start_scheduling(
    file: _record.TraceFile, requested: Sched, chosen: "ChosenLevel"
) -> tuple["LevelName", str, "FtraceSession | None"]:
    """Starts what was chosen; the level and reason it came to, and the session if there is one.

    Raises:
        SchedulingUnavailableError: ftrace was asked for by name, and the kernel refuses.
    """
    if chosen.level != "ftrace":
        return chosen.level, chosen.reason, None
    try:
        return chosen.level, chosen.reason, start_ftrace(file)
    except SchedulingUnavailableError as error:
        if requested != "auto":
            raise
        return "procfs", str(error), None


class Recording:
    """Records the locks made, and the waits for them, until the block ends. Made by `record`.

    Attributes:
        path: The trace file.
        sched: How closely the scheduler is watched: `ftrace`, `procfs` or `off`; known once it runs.
        sched_reason: Why that closely.
    """

    def __init__(self, path: Path, sched: Sched) -> None:
        """Nothing happens before `start`."""
        self.path = path
        self.sched: LevelName = "off"
        self._requested = sched
        self.sched_reason = ""
        self._patch = Patch()
        self._ftrace: FtraceSession | None = None

    def start(self) -> None:
        """Replaces the lock types and starts the writer.

        Raises:
            RecordError: The file cannot be written, or this process is being recorded already.
            SchedulingUnavailableError: `sched="ftrace"` or `"procfs"` was asked for and is not to be had.
        """
        from unjank.record.sched import choose

        if _record.recording():
            raise RecordError("this process is being recorded already; end that recording first")
        chosen = choose(self._requested)
        file = create_trace_file(self.path)
        self.sched, self.sched_reason, self._ftrace = start_scheduling(file, self._requested, chosen)
        facts = session_facts(__version__, sys.argv, self.sched, self.sched_reason)
        name = os.path.basename(sys.argv[0]) or "python"  # noqa: PTH119  "-c" and "" are no paths
        _record.start(file, name, sys.argv, facts, self.sched == "procfs")
        self._patch.install()

    def stop(self) -> None:
        """Puts the lock types back and writes what is left. A failed write is a warning, not an error."""
        self._patch.uninstall()
        if self._ftrace is not None:
            self._ftrace.stop()
        _, error = _record.stop("exited")
        if error:
            warnings.warn(
                f"the recording in {self.path} ends early: {os.strerror(error)}; the program was not touched",
                RuntimeWarning,
                stacklevel=3,
            )

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def record(path: str | os.PathLike[str], *, sched: Sched = "auto") -> Recording:
    """Records this process while the `with` block runs.

        with unjank.record("out.pftrace"):
            serve()

    Locks made inside the block, by any library, are recorded; those made before are not. `unjank run` sees
    all of them.

    Args:
        path: The trace file; one that is there is replaced.
        sched: How closely to watch the scheduler. `ftrace` sees every switch of every thread and needs root;
            `procfs` sees how long a lock's owner was kept off the CPU; `auto` takes what it can get.
    """
    return Recording(Path(path), sched)
