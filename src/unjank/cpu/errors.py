"""What goes wrong when threads and CPUs are controlled; each message names the rule and the way out."""

from unjank._errors import CpuError


class ThreadGoneError(CpuError):
    """The thread or process has ended, or never was."""


class ForbiddenError(CpuError):
    """The kernel refused; the message names the rule that forbade it and how to allow it."""


class AbsentError(CpuError):
    """This machine or kernel lacks what was asked for."""
