"""Starts a program under the recorder and stays out of its way: `unjank run`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unjank import _record
from unjank._version import __version__
from unjank.record._child import SETTINGS
from unjank.record._session import Sched, create_trace_file, start_scheduling

if TYPE_CHECKING:
    from unjank.record.sched import FtraceSession

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)
_PATIENCE = 3
"""So many Ctrl-C, and a program that does not end is killed."""


@dataclass(frozen=True)
class Program:
    """What to run.

    Attributes:
        target: A script's path, or a module's name.
        arguments: What the program finds in `sys.argv[1:]`.
        is_module: Whether the target is a module, as after `python -m`.
    """

    target: str
    arguments: Sequence[str]
    is_module: bool

    @property
    def name(self) -> str:
        """What the process is called in the trace."""
        return self.target if self.is_module else Path(self.target).name


@dataclass(frozen=True)
class RunResult:
    """How it went.

    Attributes:
        exit_code: The program's own; 128 + N if signal N ended it; 3 if it could not be started.
        started: Whether the program came to run: it was found, compiled, and the recorder was ready.
        recorded: Whether there is a trace to report on.
        notes: What is worth telling about the recording, in plain words.
    """

    exit_code: int
    started: bool
    recorded: bool
    notes: Sequence[str]


def run_recorded(program: Program, output: Path, sched: Sched) -> RunResult:
    """Runs the program to its end and records it.

    Args:
        program: What to run; it gets our standard streams, environment and signals.
        output: The trace file; replaced if it is there.
        sched: How closely to watch the scheduler.

    Raises:
        RecordError: The trace cannot be written there.
        SchedulingUnavailableError: A level was asked for that is not to be had.
    """
    from unjank.record.sched import choose

    chosen = choose(sched)
    file = create_trace_file(output)
    notes: list[str] = []
    level, reason, ftrace = start_scheduling(file, sched, chosen)
    try:
        status, started = _run(program, file, level, reason)
    finally:
        if ftrace is not None:
            notes += _ftrace_notes(ftrace)
    return _result(status, started, file, notes)


def _ftrace_notes(ftrace: "FtraceSession") -> list[str]:
    stats = ftrace.stop()
    notes = []
    if stats.lost_events:
        notes.append(f"{stats.lost_events} scheduling events were overwritten before they could be read")
    if stats.sink_failed:
        notes.append("the scheduling events end early: the trace file took no more")
    return notes


def _result(status: int, started: bool, file: _record.TraceFile, notes: list[str]) -> RunResult:
    if file.error:
        notes.append(f"the recording ends early: {os.strerror(file.error)}; the program was not disturbed")
    if status < 0:
        left = "the trace holds what came before" if started else "it had not begun to run"
        notes.append(f"the program was ended by {_signal_name(-status)}; {left}")
        status = 128 - status
    return RunResult(status, started, started and file.committed > 0, notes)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _run(program: Program, file: _record.TraceFile, level: str, reason: str) -> tuple[int, bool]:
    """Runs it; how it ended, and whether it had begun: the child says so in a pipe."""
    shared_fd = file.share()
    reader, writer = os.pipe()
    try:
        with _signals_held() as mask_before:
            settings = {
                "program": program.target,
                "arguments": list(program.arguments),
                "module": program.is_module,
                "process_name": program.name,
                "path": file.path,
                "shared_fd": shared_fd,
                "started_fd": writer,
                "command": _command(program),
                "sched": level,
                "sched_reason": reason,
                "signal_mask": sorted(mask_before),
                "version": __version__,
            }
            child = subprocess.Popen(
                [sys.executable, *_interpreter_options(), "-m", "unjank.record._child"],
                env={**os.environ, SETTINGS: json.dumps(settings)},
                pass_fds=(shared_fd, writer),
            )
            os.close(writer)
            status = _wait(child)
            return status, os.read(reader, 1) != b""
    finally:
        os.close(shared_fd)
        os.close(reader)


def _command(program: Program) -> list[str]:
    """The command that runs the program without us."""
    target = ["-m", program.target] if program.is_module else [program.target]
    return [sys.executable, *_interpreter_options(), *target, *program.arguments]


def _interpreter_options() -> list[str]:
    """The -X and -W options, -O and so on that this interpreter was started with."""
    return subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined,no-any-return]


@contextmanager
def _signals_held() -> Iterator[set[int]]:
    """Signals wait in the queue until `_wait` takes them; the child takes the mask off again."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_PASSED_ON, signal.SIGCHLD})
    try:
        yield {int(number) for number in before}
    finally:
        # A Ctrl-C that came as the program ended was meant for it, not for the report.
        signal.sigtimedwait({signal.SIGINT}, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Waits for the child; passes on what was sent to us alone, counts Ctrl-C."""
    interrupts = 0
    while (status := child.poll()) is None:
        came = signal.sigwaitinfo({*_PASSED_ON, signal.SIGCHLD})
        if came.si_signo == signal.SIGCHLD:
            continue
        if came.si_code <= 0:  # from a process: the terminal's (SI_KERNEL) has reached the child by itself
            child.send_signal(came.si_signo)
        interrupts += came.si_signo == signal.SIGINT
        if interrupts >= _PATIENCE:
            print("unjank: the program does not end; it is killed now", file=sys.stderr)  # noqa: T201
            child.kill()
    return status
