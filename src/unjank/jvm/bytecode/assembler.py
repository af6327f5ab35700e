"""Small methods, written down instruction by instruction.

Operand stack and local variables are followed on the way, so the limits and the StackMapTable come of
themselves. At a label the operand stack must be empty.
"""

from collections.abc import Sequence
from struct import pack

from unjank.jvm.bytecode.decode import Instruction
from unjank.jvm.bytecode.descriptors import parse_descriptor, slots
from unjank.jvm.bytecode.effects import Effects
from unjank.jvm.bytecode.opcodes import OPCODES, SIZES
from unjank.jvm.bytecode.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    TOP,
    UNUSABLE,
    Frame,
    Tracked,
    Value,
    of_descriptor,
)
from unjank.jvm.classfile import CodeAttribute, ConstantPool, ExceptionRange, MemberRef, Tag

_LETTERS = {INT: "i", LONG: "l", FLOAT: "f", DOUBLE: "d"}
_TAGS = {TOP: 0, INT: 1, FLOAT: 2, DOUBLE: 3, LONG: 4, NULL: 5}
_ENDS = ("goto", "athrow", "return", "ireturn", "lreturn", "freturn", "dreturn", "areturn")
_FULL_FRAME = 255
_OBJECT_TYPE = 7
_THROWABLE = "java/lang/Throwable"


class Assembler:
    """Writes one static method."""

    def __init__(self, pool: ConstantPool, parameters: Sequence[str]) -> None:
        """Starts with the parameters, field descriptors, in the first local variables."""
        self.pool = pool
        self._code = bytearray()
        self._max_locals = 0
        self._variables: list[str] = [of_descriptor(parameter) for parameter in parameters]
        self._effects = Effects(pool, self._code, "", Tracked())
        self._frame = Frame(self._by_slot(), [])
        self._reachable = True
        self._max_stack = 0
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []
        self._at_label: dict[str, list[str]] = {}
        self._frames: dict[int, tuple[list[str], list[str]]] = {}
        self._ranges: list[tuple[str, str, str]] = []

    def op(self, name: str, operands: bytes = b"") -> None:
        """An instruction with its operands."""
        pc = len(self._code)
        opcode = OPCODES[name]
        self._code.append(opcode)
        self._code += operands
        self._effects.apply(self._frame, Instruction(pc, opcode, SIZES[opcode]))
        height = sum(slots(value.type) for value in self._frame.stack)
        self._max_stack = max(self._max_stack, height)
        self._reachable = name not in _ENDS

    def type_of(self, slot: int) -> str:
        """The type that a local variable has here."""
        return self._frame.locals[slot].type

    def load(self, descriptor: str, slot: int) -> None:
        """Pushes a local variable."""
        self._local(self._letter(descriptor) + "load", slot)

    def store(self, descriptor: str, slot: int) -> None:
        """Pops into a local variable; a new one may only be the next free slot."""
        if slot == sum(map(slots, self._variables)):
            self._variables.append(of_descriptor(descriptor))
            self._frame.locals = self._by_slot()
        self._local(self._letter(descriptor) + "store", slot)

    def store_new(self) -> int:
        """Pops into a new local variable, of the type that is on top of the stack; returns its slot."""
        slot = sum(map(slots, self._variables))
        self.store(self._frame.stack[-1].type, slot)
        return slot

    def give_back(self, descriptor: str) -> None:
        """Returns from the method with a value of this type; `V` for none."""
        self.op("return" if descriptor == "V" else self._letter(descriptor) + "return")

    def field(self, name: str, member: MemberRef) -> None:
        """getstatic, putstatic, getfield or putfield."""
        self.op(name, pack(">H", self.pool.add_member(Tag.FIELD, member)))

    def invoke(self, name: str, member: MemberRef) -> None:
        """A call; an interface's method is called with invokeinterface."""
        if name != "invokeinterface":
            self.op(name, pack(">H", self.pool.add_member(Tag.METHOD, member)))
            return
        index = self.pool.add_member(Tag.INTERFACE_METHOD, member)
        count = 1 + sum(map(slots, parse_descriptor(member.descriptor)[0]))
        self.op(name, pack(">HBB", index, count, 0))

    def with_class(self, name: str, class_name: str) -> None:
        """new, checkcast or instanceof."""
        self.op(name, pack(">H", self.pool.add_class(class_name)))

    def load_class(self, class_name: str) -> None:
        """Pushes a class constant."""
        self.op("ldc_w", pack(">H", self.pool.add_class(class_name)))

    def load_string(self, text: str) -> None:
        """Pushes a string constant."""
        self.op("ldc_w", pack(">H", self.pool.add_string(text)))

    def load_long(self, value: int) -> None:
        """Pushes a long constant."""
        self.op("ldc2_w", pack(">H", self.pool.add_long(value)))

    def jump(self, name: str, label: str) -> None:
        """A jump, with or without a condition, to a label that is placed before or after it."""
        self._jumps.append((len(self._code), label))
        self.op(name, b"\0\0")
        known = self._at_label.get(label, self._variables)
        self._at_label[label] = min(known, self._variables, key=len).copy()

    def label(self, label: str) -> None:
        """Places a label."""
        pc = len(self._code)
        self._labels[label] = pc
        coming = [self._at_label[label]] if label in self._at_label else []
        self._variables = min([*coming, *[self._variables] * self._reachable], key=len).copy()
        self._frame = Frame(self._by_slot(), [])
        self._reachable = True
        self._frames[pc] = (list(self._variables), [])

    def mark(self, label: str) -> None:
        """Notes a place for `catch_all`; nothing jumps to it."""
        self._labels[label] = len(self._code)

    def catch_all(self, start: str, end: str, label: str, variables: int) -> None:
        """Places a handler for what is thrown between two marks; the first `variables` locals are kept."""
        self._variables = self._variables[:variables]
        self._ranges.append((start, end, label))
        pc = len(self._code)
        self._labels[label] = pc
        kind = f"L{_THROWABLE};"
        self._frame = Frame(self._by_slot(), [Value(kind)])
        self._max_stack = max(self._max_stack, 1)
        self._frames[pc] = (list(self._variables), [kind])

    def finish(self) -> CodeAttribute:
        """The method's code."""
        for at, label in self._jumps:
            self._code[at + 1 : at + 3] = pack(">h", self._labels[label] - at)
        ranges = [
            ExceptionRange(self._labels[start], self._labels[end], self._labels[handler], 0)
            for start, end, handler in self._ranges
        ]
        tables = [(self.pool.add_utf8("StackMapTable"), self._stack_map())] if self._frames else []
        return CodeAttribute(self._max_stack, self._max_locals, bytes(self._code), ranges, tables)

    def _local(self, name: str, slot: int) -> None:
        """The first four slots have instructions of one byte; short methods are more likely to be inlined."""
        if slot < 4:
            self.op(f"{name}_{slot}")
        else:
            self.op(name, bytes((slot,)))

    def _letter(self, descriptor: str) -> str:
        return _LETTERS.get(of_descriptor(descriptor), "a")

    def _by_slot(self) -> list[Value]:
        found: list[Value] = []
        for kind in self._variables:
            found += [Value(kind), UNUSABLE][: slots(kind)]
        self._max_locals = max(self._max_locals, len(found))
        return found

    def _stack_map(self) -> bytes:
        table = pack(">H", len(self._frames))
        before = -1
        for pc in sorted(self._frames):
            variables, stack = self._frames[pc]
            table += pack(">BH", _FULL_FRAME, pc - before - 1)
            table += self._types(variables) + self._types(stack)
            before = pc
        return table

    def _types(self, types: Sequence[str]) -> bytes:
        found = pack(">H", len(types))
        for kind in types:
            if kind in _TAGS:
                found += bytes((_TAGS[kind],))
            else:
                name = kind[1:-1] if kind.startswith("L") else kind
                found += pack(">BH", _OBJECT_TYPE, self.pool.add_class(name))
        return found
