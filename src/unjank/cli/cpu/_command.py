"""Running a program of the user's under a setting."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


def become(command: Sequence[str]) -> NoReturn:
    """Replaces this process by the program, which inherits its CPUs and priority.

    Raises:
        CpuError: It cannot be started.
    """
    try:
        os.execvp(command[0], list(command))  # noqa: S606  that is what the user asked for
    except OSError as error:
        raise _not_started(command, error) from error


def run(command: Sequence[str]) -> int:
    """Runs the program and waits for it; Ctrl-C is for the program.

    Returns:
        Its exit code; 128 and the signal's number if it was killed.

    Raises:
        CpuError: It cannot be started.
    """
    try:
        child = subprocess.Popen(list(command))
    except OSError as error:
        raise _not_started(command, error) from error
    with _left_to(child):
        code = child.wait()
    return code if code >= 0 else 128 - code


def _not_started(command: Sequence[str], error: OSError) -> Exception:
    from unjank.cpu import CpuError

    return CpuError(f"cannot start {command[0]}: {error.strerror}; name a program on PATH, or its path")


@contextmanager
def _left_to(child: "subprocess.Popen[bytes]") -> Iterator[None]:
    """The terminal's Ctrl-C reaches the child by itself; what is sent to this process is passed on."""

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
        signal.SIGHUP: signal.signal(signal.SIGHUP, pass_on),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP end the block as Ctrl-C does, so that what was changed is put back."""

    def interrupt(number: int, _: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
