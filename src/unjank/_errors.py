"""The exceptions of unjank: one small tree, each message names the cause and the way out."""


class UnjankError(Exception):
    """Base of everything unjank raises on purpose; the command line prints it as one line and exits 2."""


class TraceError(UnjankError):
    """A trace could not be read: unknown format, truncated, or it made the engine abort."""


class QueryError(UnjankError):
    """A SQL statement failed; the message holds the engine's text with the position."""


class EngineError(UnjankError):
    """The trace engine could not be found, compiled, started, or has died."""


class RecordError(UnjankError):
    """A recording could not be started or written."""


class SchedulingUnavailableError(RecordError):
    """The kernel's scheduling could not be recorded at the level that was asked for."""


class LooperError(UnjankError):
    """A looper or handler was used where it cannot work: wrong thread, already quit, descriptors closed."""


class CpuError(UnjankError):
    """A thread's CPUs, priority or a frequency knob could not be read or set."""
