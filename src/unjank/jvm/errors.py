"""What this package raises: broken class files and broken archives, told apart."""

from unjank._errors import UnjankError


class AtomicsError(UnjankError):
    """Base of what `unjank.jvm` raises."""


class ClassFileError(AtomicsError):
    """A class file cannot be read: truncated, a bad index, code that this package does not follow."""


class PoolFullError(ClassFileError):
    """A constant pool has no room for what would have to be added: it holds 65,535 slots at most."""


class ArchiveError(AtomicsError):
    """An archive cannot be read or written, or must not be: damaged, signed, a trap."""


class VerificationError(AtomicsError):
    """The own output did not pass verification; nothing was left behind."""
