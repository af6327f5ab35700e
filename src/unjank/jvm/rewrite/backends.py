"""The operations on a field: through sun.misc.Unsafe, and through a VarHandle.

Each method pushes what it needs and leaves the result on the stack. The holder is in local variable 1. Unsafe
is used with what both the JDK and old Androids have: no `getAndSet`, which Android has from API 24 on.
"""

from typing import Protocol

from unjank.jvm.bytecode import Assembler
from unjank.jvm.classfile import MemberRef
from unjank.jvm.rewrite.cell import UNSAFE, VAR_HANDLE, Cell

HOLDER = 1
_UNSAFE_NAMES = {"I": "Int", "J": "Long"}
_OBJECT = "Ljava/lang/Object;"


class Backend(Protocol):
    """One way to reach the field."""

    def jump_unless_ready(self, label: str) -> None:
        """Jumps to the label as long as there is no offset or VarHandle."""

    def get(self) -> None:
        """Volatile read."""

    def set(self, value: int, *, lazy: bool) -> None:
        """Volatile or ordered write of the local variable `value`."""

    def compare_and_set(self, expected: int, value: int) -> None:
        """Compare-and-set of two local variables; leaves a boolean."""

    @property
    def compares_types(self) -> bool:
        """True if the expected value must have the field's type."""


class FieldAccess:
    """Reads and writes of the field itself, which are volatile as it is; only its own class may use them."""

    def __init__(self, assembler: Assembler, cell: Cell) -> None:
        self._asm = assembler
        self._cell = cell

    def get(self) -> None:
        """Volatile read."""
        self.push_holder()
        self._asm.field("getfield", self._cell.field)

    def put(self, value: int) -> None:
        """Volatile write."""
        self.push_holder()
        self.push_value(value)
        self._asm.field("putfield", self._cell.field)

    def push_holder(self) -> None:
        """The holder, with its type also where the helper checks it."""
        self._asm.load(_OBJECT, HOLDER)
        if self._asm.type_of(HOLDER) != f"L{self._cell.owner};":
            self._asm.with_class("checkcast", self._cell.owner)

    def push_value(self, variable: int) -> None:
        """A value, with the field's type also where the helper checks it."""
        self._asm.load(self._cell.type, variable)
        if self._cell.type[0] in "L[" and self._asm.type_of(variable) != self._cell.type:
            self._asm.with_class("checkcast", self._cell.value_class)


class UnsafeBackend:
    """By the field's offset."""

    compares_types = False

    def __init__(self, assembler: Assembler, cell: Cell) -> None:
        self._asm = assembler
        self._cell = cell
        self._direct = FieldAccess(assembler, cell)
        self._suffix = _UNSAFE_NAMES.get(cell.type, "Object")
        self._type = cell.kind.value_descriptor

    def jump_unless_ready(self, label: str) -> None:
        """See `Backend`."""
        self._asm.field("getstatic", self._cell.handle)
        self._asm.op("lconst_0")
        self._asm.op("lcmp")
        self._asm.jump("ifle", label)

    def get(self) -> None:
        """See `Backend`."""
        if self._cell.in_owner:
            self._direct.get()
            return
        self._place()
        self._call(f"get{self._suffix}Volatile", f"({_OBJECT}J){self._type}")

    def set(self, value: int, *, lazy: bool) -> None:
        """See `Backend`."""
        if self._cell.in_owner and not lazy:
            self._direct.put(value)
            return
        self._place()
        self._asm.load(self._type, value)
        name = f"putOrdered{self._suffix}" if lazy else f"put{self._suffix}Volatile"
        self._call(name, f"({_OBJECT}J{self._type})V")

    def compare_and_set(self, expected: int, value: int) -> None:
        """See `Backend`."""
        self._place()
        self._asm.load(self._type, expected)
        self._asm.load(self._type, value)
        self._call(f"compareAndSwap{self._suffix}", f"({_OBJECT}J{self._type}{self._type})Z")

    def _place(self) -> None:
        self._asm.field("getstatic", self._cell.unsafe)
        self._asm.load(_OBJECT, HOLDER)
        self._asm.field("getstatic", self._cell.handle)

    def _call(self, name: str, descriptor: str) -> None:
        self._asm.invoke("invokevirtual", MemberRef(UNSAFE, name, descriptor))


class VarHandleBackend:
    """By a VarHandle, called with exactly the types of holder and field."""

    compares_types = True

    def __init__(self, assembler: Assembler, cell: Cell) -> None:
        self._asm = assembler
        self._cell = cell
        self._direct = FieldAccess(assembler, cell)
        self._holder = f"L{cell.owner};"

    def jump_unless_ready(self, label: str) -> None:
        """See `Backend`."""
        self._asm.field("getstatic", self._cell.handle)
        self._asm.jump("ifnull", label)

    def get(self) -> None:
        """See `Backend`."""
        if self._cell.in_owner:
            self._direct.get()
        else:
            self._call("getVolatile", self._cell.type)

    def set(self, value: int, *, lazy: bool) -> None:
        """See `Backend`."""
        if self._cell.in_owner and not lazy:
            self._direct.put(value)
        else:
            self._call("setRelease" if lazy else "setVolatile", "V", value)

    def compare_and_set(self, expected: int, value: int) -> None:
        """See `Backend`."""
        self._call("compareAndSet", "Z", expected, value)

    def get_and_set(self, value: int) -> None:
        """Swaps the field with a local variable; leaves the old value."""
        self._call("getAndSet", self._cell.type, value)

    def get_and_add(self, delta: int) -> None:
        """Adds a local variable; leaves the old value."""
        self._call("getAndAdd", self._cell.type, delta)

    def _call(self, name: str, result: str, *values: int) -> None:
        self._asm.field("getstatic", self._cell.handle)
        self._direct.push_holder()
        for value in values:
            self._direct.push_value(value)
        descriptor = f"({self._holder}{self._cell.type * len(values)}){result}"
        self._asm.invoke("invokevirtual", MemberRef(VAR_HANDLE, name, descriptor))


def backend(assembler: Assembler, cell: Cell) -> UnsafeBackend | VarHandleBackend:
    """The backend for a cell's target."""
    return (UnsafeBackend if cell.target == "unsafe" else VarHandleBackend)(assembler, cell)
