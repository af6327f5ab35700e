"""Class files of an archive, as they are changed."""

from unjank.jvm.classfile import parse_class, write_class
from unjank.jvm.rewrite.changes import Companion, UnitChange
from unjank.jvm.rewrite.companion import companion_class
from unjank.jvm.rewrite.owner import change_class


def changed_bytes(data: bytes, change: UnitChange) -> bytes:
    """A class file with its changes."""
    cls = parse_class(data)
    change_class(cls, change)
    return write_class(cls)


def companion_bytes(companion: Companion) -> bytes:
    """A new class file."""
    return write_class(companion_class(companion))
