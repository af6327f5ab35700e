"""Where results go: standard output, or a file that appears whole or not at all."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from unjank._errors import UnjankError


@dataclass(frozen=True)
class Output:
    """An open output.

    Attributes:
        stream: where to write.
        temporary: the file that is renamed at the end, or None.
    """

    stream: BinaryIO
    temporary: Path | None = None

    def discard(self) -> None:
        """Removes the unfinished file; for a process that is about to be ended."""
        if self.temporary is not None:
            self.temporary.unlink(missing_ok=True)


@contextmanager
def open_output(path: Path | None) -> Iterator[Output]:
    """Opens the output; None is standard output.

    A reader of standard output that goes away ends the block without an error.
    A file is written under another name beside its place and renamed when all went well, so an error or
    Ctrl-C leaves what was there before. Devices and pipes are written to directly.

    Raises:
        UnjankError: the file can't be made, or the disk is full.
    """
    if path is None:
        yield from _standard_output()
        return
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield Output(device)
        else:
            with _replacing(path.resolve()) as output:
                yield output
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnjankError(f"{path}: can't be written: {error.strerror}") from error


def _standard_output() -> Iterator[Output]:
    try:
        yield Output(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader had enough, as `head` has: that is no error, and nothing is to be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _replacing(target: Path) -> Iterator[Output]:
    fd, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            yield Output(file, temporary)
        temporary.chmod(_mode_for(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode_for(target: Path) -> int:
    """The mode the file has, or the one a new file gets by the user's umask."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
