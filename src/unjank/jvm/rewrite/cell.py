"""What a helper works on: one updated field, and the static field that says where it is."""

from dataclasses import dataclass

from unjank.jvm.analysis.operations import Kind
from unjank.jvm.bytecode.types import class_of
from unjank.jvm.classfile import MemberRef
from unjank.jvm.model import Target

UNSAFE = "sun/misc/Unsafe"
VAR_HANDLE = "java/lang/invoke/VarHandle"
PREFIX = "unjank$"
"""Begins the name of everything that is added to a class."""

HANDLE_TYPES: dict[Target, str] = {"unsafe": "J", "varhandle": f"L{VAR_HANDLE};"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One updated field.

    Attributes:
        owner: The class that has the field, internal name.
        updater: Name of the updater's field.
        kind: Kind of the updater.
        target_field: The updated field's name.
        type: Its descriptor.
        host: The class that has the helpers: the owner, or a companion beside it.
        target: What the helpers use.
    """

    owner: str
    updater: str
    kind: Kind
    target_field: str
    type: str
    host: str
    target: Target

    @property
    def in_owner(self) -> bool:
        """True if the updater is gone and its field holds the offset or VarHandle."""
        return self.host == self.owner

    @property
    def handle(self) -> MemberRef:
        """The static field with the offset (0 before it is set, below 0 if it cannot be had) or VarHandle."""
        return MemberRef(self.host, self.updater, HANDLE_TYPES[self.target])

    @property
    def unsafe(self) -> MemberRef:
        """The static field with the Unsafe."""
        return MemberRef(self.host, f"{PREFIX}unsafe", f"L{UNSAFE};")

    @property
    def fallback(self) -> MemberRef:
        """In the owner: the original updater, if offset or VarHandle cannot be had; otherwise null."""
        return MemberRef(self.host, f"{PREFIX}{self.updater}$updater", self.kind.descriptor)

    @property
    def field(self) -> MemberRef:
        """The updated field."""
        return MemberRef(self.owner, self.target_field, self.type)

    @property
    def value_class(self) -> str:
        """Of a reference field, what a cast or a class constant names."""
        return class_of(self.type) or self.type
