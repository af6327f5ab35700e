"""The two kinds of knobs, and what the file-backed ones have in common."""

import errno
from dataclasses import dataclass
from typing import Protocol

from unjank.cpu.errors import AbsentError, ForbiddenError
from unjank.cpu.kernel_tree import KernelTree


@dataclass(frozen=True)
class Availability:
    """Whether a knob is there; `reason` says why not."""

    present: bool
    reason: str = ""


class Knob(Protocol):
    """A knob that stays as it is set, until somebody sets it again: it needs a journal."""

    @property
    def name(self) -> str:
        """Its name, by which `find_knob` finds it."""

    def available(self) -> Availability:
        """Whether this machine has it."""

    def read(self) -> str:
        """Its value; raises CpuError."""

    def write(self, value: str) -> None:
        """Sets it; raises CpuError: the message names the rule that forbade it."""


class HeldKnob(Protocol):
    """A knob that lasts as long as it is held: the kernel or the device lets it go when this process ends."""

    @property
    def name(self) -> str:
        """Its name."""

    def available(self) -> Availability:
        """Whether this machine has it."""

    def read(self) -> str:
        """What is in force; raises CpuError."""

    def acquire(self) -> None:
        """Sets it; raises CpuError."""

    def release(self) -> None:
        """Lets it go; a second call does nothing."""


class FileKnob:
    """A knob that is one file.

    Attributes:
        name: Its path below `sys/devices/system/cpu`.
    """

    def __init__(self, tree: KernelTree, name: str) -> None:
        self.name = name
        self._tree = tree
        self._path = f"sys/devices/system/cpu/{name}"

    def available(self) -> Availability:
        """Whether the file is there."""
        if self._tree.text(self._path) is None:
            return Availability(False, f"there is no /{self._path}")
        return Availability(True)

    def read(self) -> str:
        """The file's text."""
        value = self._tree.text(self._path)
        if value is None:
            raise AbsentError(f"/{self._path} is gone: the CPU went offline, or its driver was unloaded")
        return value

    def write(self, value: str) -> None:
        """Writes the file.

        Raises:
            AbsentError: It is not there.
            ForbiddenError: The kernel refuses.
        """
        try:
            self._tree.write(self._path, value)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise AbsentError(f"/{self._path} is gone; see `unjank cpu boost --list`") from error
        except OSError as error:
            raise ForbiddenError(self._refusal(error, value)) from error

    def _refusal(self, error: OSError, value: str) -> str:
        what = f"{value} cannot be written to /{self._path}: {error.strerror}"
        if isinstance(error, PermissionError):
            return f"{what}; it takes root: sudo unjank cpu boost …"
        if error.errno == errno.EROFS:
            return f"{what}; /sys is mounted read-only, as in containers: do it on the host"
        return f"{what}; the driver does not take this value, leave that knob out"
