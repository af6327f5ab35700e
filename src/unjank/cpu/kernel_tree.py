"""The kernel's files below one root: `/proc`, `/sys` and `/dev`, or a made-up tree in tests."""

import os
from dataclasses import dataclass
from pathlib import Path

from unjank._errors import CpuError
from unjank.cpu.cpulist import parse_cpu_list


@dataclass(frozen=True)
class KernelTree:
    """Reads and writes the kernel's files; paths are given without the leading slash.

    Attributes:
        root: What stands before `proc`, `sys` and `dev`.
    """

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        """Where that file is."""
        return self.root / name

    def text(self, name: str) -> str | None:
        """The file's text without white space around it; None where it is missing or may not be read."""
        try:
            return (self.root / name).read_text(errors="surrogateescape").strip()
        except OSError:  # also of a file that is there: an offline CPU's answers ENXIO or EBUSY
            return None

    def number(self, name: str) -> int | None:
        """The file's whole number; None where there is none."""
        try:
            return int(self.text(name) or "")
        except ValueError:  # empty, or `<unsupported>` as drivers write it
            return None

    def cpus(self, name: str) -> frozenset[int] | None:
        """The file's list of CPUs; None where there is none."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return parse_cpu_list(text)
        except CpuError:  # `(null)`, as `isolated` and `nohz_full` of some kernels say it
            return frozenset()

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; empty where there is none."""
        try:
            return sorted(os.listdir(self.root / folder))  # noqa: PTH208  names are wanted, not paths
        except OSError:
            return []

    def write(self, name: str, value: str) -> None:
        """Writes a file that must exist: the kernel's file systems let nobody make one.

        Raises:
            OSError: The kernel refuses.
        """
        fd = os.open(self.root / name, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)
