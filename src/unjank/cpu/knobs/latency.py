"""Deep idle off: the wake-up latency that all CPUs must keep, for as long as a file is held open.

Source: Documentation/power/pm_qos_interface.rst: a signed 32-bit number of µs, in effect until the file is
closed; so even a killed process leaves nothing behind.
"""

import os
import struct

from unjank._errors import CpuError
from unjank.cpu.errors import AbsentError, ForbiddenError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.knob import Availability

_DEVICE = "dev/cpu_dma_latency"
_NUMBER = struct.Struct("@i")
_MOST_US = 2**31 - 1


class WakeLatency:
    """Keeps CPUs out of idle states that take longer than `latency_us` to leave; 0 lets them poll only."""

    name = "cpu_dma_latency"

    def __init__(self, tree: KernelTree, latency_us: int = 0) -> None:
        """Nothing happens yet.

        Args:
            tree: Where the device is.
            latency_us: The longest latency that is let happen, µs.

        Raises:
            CpuError: The latency is out of bounds.
        """
        if not 0 <= latency_us <= _MOST_US:
            raise CpuError(f"a wake-up latency is 0 to {_MOST_US} µs, not {latency_us}")
        self._path = tree.path(_DEVICE)
        self._latency_us = latency_us
        self._fd: int | None = None

    def available(self) -> Availability:
        """Whether the device is there."""
        if self._path.exists():
            return Availability(True)
        return Availability(
            False, f"there is no /{_DEVICE}: the kernel has no CPU idle states to keep out of"
        )

    def read(self) -> str:
        """The latency in force, µs: the least of all who hold one."""
        fd = self._open(os.O_RDONLY)
        try:
            return str(_NUMBER.unpack(os.read(fd, _NUMBER.size))[0])
        finally:
            os.close(fd)

    def acquire(self) -> None:
        """Opens, writes, and keeps it open.

        Raises:
            AbsentError: There is no such device.
            ForbiddenError: It may not be opened.
        """
        if self._fd is not None:
            return
        fd = self._open(os.O_WRONLY)
        try:
            os.write(fd, _NUMBER.pack(self._latency_us))
        except OSError as error:
            os.close(fd)
            raise ForbiddenError(f"/{_DEVICE} takes no {self._latency_us} µs: {error.strerror}") from error
        self._fd = fd

    def release(self) -> None:
        """Closes it, which ends the effect."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _open(self, flags: int) -> int:
        try:
            return os.open(self._path, flags | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise AbsentError(f"there is no /{_DEVICE}") from error
        except OSError as error:
            raise ForbiddenError(
                f"/{_DEVICE} cannot be opened: {error.strerror}; run as root, or give it to a group with udev"
            ) from error
