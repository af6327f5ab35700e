"""The kernel's tracing file system: where it is mounted, and an instance of our own in it.

An instance is a set of ring buffers with its own clock, events and sizes (Documentation/trace/ftrace.rst,
"Instances"): what others trace on this machine is neither seen nor touched.
"""

import contextlib
import ctypes
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MOUNT_POINT = "/sys/kernel/tracing"
INSTANCE_PREFIX = "unjank-"
CLOCK = "boot"
"""The trace clock that agrees with CLOCK_BOOTTIME, the clock of all other packets in a trace."""


@dataclass(frozen=True)
class TracefsMount:
    """A mounted tracefs."""

    path: Path
    read_only: bool


def find_tracefs(root: Path = Path("/")) -> TracefsMount | None:
    """Finds a mounted tracefs, one that can be written first.

    Args:
        root: Prefix of `/proc` and of the mount point, for tests.

    Returns:
        The mount, or None where this process's mount namespace has none.
    """
    try:
        lines = (root / "proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    mounts = [mount for line in lines if (mount := _parse_mount(line, root))]
    return min(mounts, key=lambda mount: mount.read_only, default=None)


def _parse_mount(line: str, root: Path) -> TracefsMount | None:
    # proc_pid_mountinfo(5): … 5 mount point, 6 options, any number of tags, "-", type, source, super options
    before, _, after = line.partition(" - ")
    fields, super_fields = before.split(), after.split()
    if len(fields) < 6 or not super_fields or super_fields[0] != "tracefs":
        return None
    options = [*fields[5].split(","), *super_fields[-1].split(",")]
    # Blanks and the like in paths are written as octal escapes.
    path = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
    return TracefsMount(root / path.lstrip("/"), read_only="ro" in options)


def mount_tracefs(mount_point: str = MOUNT_POINT) -> None:
    """Mounts tracefs where distributions do.

    Raises:
        OSError: The kernel refuses: no rights (CAP_SYS_ADMIN), or it has no tracefs.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (b"nodev", os.fsencode(mount_point), b"tracefs", ctypes.c_ulong(0), None)
    if libc.mount(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), mount_point)


def instance_owner(name: str) -> int | None:
    """The process id in an instance's name `unjank-PID` or `unjank-PID.N`; None for others' instances."""
    if not name.startswith(INSTANCE_PREFIX):
        return None
    pid, _, number = name.removeprefix(INSTANCE_PREFIX).partition(".")
    return int(pid) if pid.isdecimal() and (not number or number.isdecimal()) else None


def remove_stale_instances(tracefs: Path, proc: Path = Path("/proc")) -> list[str]:
    """Removes the instances of recorders that died without doing so; their rings hold kernel memory.

    One that is still read by somebody stays: the kernel refuses to remove it.

    Returns:
        The names of what was removed.
    """
    removed = []
    for path in sorted((tracefs / "instances").iterdir()):
        owner = instance_owner(path.name)
        if owner is None or (proc / str(owner)).exists():
            continue
        with contextlib.suppress(OSError):
            path.rmdir()
            removed.append(path.name)
    return removed


class TracefsInstance:
    """An instance of our own; it exists from `create` to `remove`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, tracefs: Path, pid: int) -> "TracefsInstance":
        """Makes an instance named after the recording process, with recording off.

        Raises:
            OSError: The kernel refuses: no rights, read-only, no memory.
        """
        number = 0
        while True:
            suffix = f".{number}" if number else ""
            path = tracefs / "instances" / f"{INSTANCE_PREFIX}{pid}{suffix}"
            try:
                path.mkdir()
            except (
                FileExistsError
            ):  # another session of this process, or one of an earlier process of that id
                number += 1
                continue
            return cls(path)

    def configure(self, events: Iterable[str], ring_kb: int, wake_percent: int) -> None:
        """Sets clock, ring size and events; recording stays off.

        Args:
            events: `group/name` each; those that this kernel lacks are left out.
            ring_kb: Size of the ring per CPU, in KiB.
            wake_percent: A reader that polls is woken when a ring is this full.

        Raises:
            OSError: A knob is missing or refuses its value.
        """
        self.write("tracing_on", "0")
        self.write("trace_clock", CLOCK)
        self.write("buffer_size_kb", str(ring_kb))
        with contextlib.suppress(
            FileNotFoundError
        ):  # since Linux 5.0; before, the reader's timer is all there is
            self.write("buffer_percent", str(wake_percent))
        for event in events:
            with contextlib.suppress(FileNotFoundError):
                self.write(f"events/{event}/enable", "1")

    def switch(self, *, on: bool) -> None:
        """Starts or stops recording into the rings."""
        self.write("tracing_on", "1" if on else "0")

    def remove(self) -> bool:
        """Removes the instance; False where somebody still reads it, a forked child for one.

        It is then off and its rings are as small as can be; a later session removes it.
        """
        if not self.path.exists():
            return True
        try:
            self.path.rmdir()
        except OSError:
            with contextlib.suppress(OSError):
                self.write("tracing_on", "0")
                self.write("buffer_size_kb", "1")
            return False
        return True

    def write(self, knob: str, value: str) -> None:
        """Writes one of the instance's files. It must exist: tracefs lets nobody make one."""
        fd = os.open(self.path / knob, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)
