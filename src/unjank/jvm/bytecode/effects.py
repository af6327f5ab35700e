"""What one instruction does to local variables and operand stack."""

from collections.abc import Callable
from struct import unpack_from

from unjank.jvm.bytecode.decode import Instruction
from unjank.jvm.bytecode.descriptors import parse_descriptor
from unjank.jvm.bytecode.opcodes import EFFECTS, OPCODES
from unjank.jvm.bytecode.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NO_ORIGIN,
    NULL,
    OBJECT,
    UNINITIALIZED,
    UNINITIALIZED_THIS,
    UNUSABLE,
    Frame,
    Tracked,
    Value,
    object_type,
    of_descriptor,
)
from unjank.jvm.classfile import ConstantPool, Tag
from unjank.jvm.errors import ClassFileError

_KINDS = (INT, LONG, FLOAT, DOUBLE, NULL)
_WIDE_TYPES = (LONG, DOUBLE)
_CONSTANTS = {
    Tag.INTEGER: INT,
    Tag.FLOAT: FLOAT,
    Tag.LONG: LONG,
    Tag.DOUBLE: DOUBLE,
    Tag.STRING: "Ljava/lang/String;",
    Tag.CLASS: "Ljava/lang/Class;",
    Tag.METHOD_TYPE: "Ljava/lang/invoke/MethodType;",
    Tag.METHOD_HANDLE: "Ljava/lang/invoke/MethodHandle;",
}
_ARRAYS = {4: "[Z", 5: "[C", 6: "[F", 7: "[D", 8: "[B", 9: "[S", 10: "[I", 11: "[J"}
_DUPLICATES = {
    "dup": (1, 0),
    "dup_x1": (1, 1),
    "dup_x2": (1, 2),
    "dup2": (2, 0),
    "dup2_x1": (2, 1),
    "dup2_x2": (2, 2),
}
_NOTHING: list[Value] = []


class Effects:
    """Carries out the instructions of one method; tracked values get the instruction as their origin."""

    def __init__(self, pool: ConstantPool, code: bytes | bytearray, this_type: str, tracked: Tracked) -> None:
        self._pool = pool
        self._code = code
        self._this = this_type
        self._tracked = tracked

    def apply(self, frame: Frame, instruction: Instruction) -> list[Value]:
        """Changes the frame; returns the values that were used up, none for a mere move.

        Raises:
            ClassFileError: A constant of the wrong kind, or a stack that has less than what is popped.
        """
        plain = EFFECTS[instruction.opcode]
        if plain is not None:
            if instruction.pc in self._tracked.nulls and instruction.opcode == OPCODES["aconst_null"]:
                frame.stack.append(Value(NULL, frozenset((instruction.pc,))))
                return _NOTHING
            return _plain(frame.stack, *plain)
        return _HANDLERS[instruction.opcode](self, frame, instruction)

    def _constant(self, frame: Frame, instruction: Instruction) -> list[Value]:
        index = self._code[instruction.pc + 1] if instruction.size == 2 else self._index(instruction)
        tag = self._pool.tag(index)
        if tag == Tag.DYNAMIC:
            kind = of_descriptor(self._pool.descriptor_of_dynamic(index))
        elif tag in _CONSTANTS:
            kind = _CONSTANTS[Tag(tag)]
        else:
            raise ClassFileError(f"{instruction.name} at {instruction.pc} loads a constant with tag {tag}")
        frame.stack.append(Value(kind))
        return _NOTHING

    def _load(self, frame: Frame, instruction: Instruction) -> list[Value]:
        frame.stack.append(frame.locals[self._slot(instruction)])
        return _NOTHING

    def _store(self, frame: Frame, instruction: Instruction) -> list[Value]:
        slot = self._slot(instruction)
        value = frame.stack.pop()
        variables = frame.locals
        variables[slot] = value
        if value.type in _WIDE_TYPES:
            variables[slot + 1] = UNUSABLE
        if slot and variables[slot - 1].type in _WIDE_TYPES:
            variables[slot - 1] = UNUSABLE
        return _NOTHING

    def _load_element(self, frame: Frame, _instruction: Instruction) -> list[Value]:
        used = _pop(frame.stack, 2)
        array = used[0].type
        element = (
            array[1:] if array.startswith("[") and array[1] in "[L" else NULL if array == NULL else OBJECT
        )
        frame.stack.append(Value(element))
        return used

    def _discard(self, frame: Frame, instruction: Instruction) -> list[Value]:
        value = frame.stack.pop()
        if instruction.opcode == OPCODES["pop2"] and value.type not in _WIDE_TYPES:
            frame.stack.pop()
        return _NOTHING

    def _duplicate(self, frame: Frame, instruction: Instruction) -> list[Value]:
        top, below = _DUPLICATES[instruction.name]
        upper = _take(frame.stack, top)
        lower = _take(frame.stack, below)
        frame.stack += upper + lower + upper
        return _NOTHING

    def _swap(self, frame: Frame, _instruction: Instruction) -> list[Value]:
        frame.stack += reversed(_pop(frame.stack, 2))
        return _NOTHING

    def _get_field(self, frame: Frame, instruction: Instruction) -> list[Value]:
        static = instruction.opcode == OPCODES["getstatic"]
        used = _NOTHING if static else _pop(frame.stack, 1)
        self._push_result(frame, instruction.pc, self._pool.member(self._index(instruction)).descriptor)
        return used

    def _put_field(self, frame: Frame, instruction: Instruction) -> list[Value]:
        return _pop(frame.stack, 1 if instruction.opcode == OPCODES["putstatic"] else 2)

    def _invoke(self, frame: Frame, instruction: Instruction) -> list[Value]:
        method = self._pool.member(self._index(instruction))
        parameters, result = parse_descriptor(method.descriptor)
        receiver = instruction.opcode != OPCODES["invokestatic"]
        used = _pop(frame.stack, len(parameters) + receiver)
        if method.name == "<init>":
            self._constructed(frame, used[0])
        else:
            self._push_result(frame, instruction.pc, result)
        return used

    def _invoke_dynamic(self, frame: Frame, instruction: Instruction) -> list[Value]:
        parameters, result = parse_descriptor(self._pool.descriptor_of_dynamic(self._index(instruction)))
        used = _pop(frame.stack, len(parameters))
        self._push_result(frame, instruction.pc, result)
        return used

    def _new(self, frame: Frame, instruction: Instruction) -> list[Value]:
        frame.stack.append(Value(f"{UNINITIALIZED}{instruction.pc}"))
        return _NOTHING

    def _new_array(self, frame: Frame, instruction: Instruction) -> list[Value]:
        used = _pop(frame.stack, 1)
        frame.stack.append(Value(_ARRAYS.get(self._code[instruction.pc + 1], OBJECT)))
        return used

    def _new_reference_array(self, frame: Frame, instruction: Instruction) -> list[Value]:
        used = _pop(frame.stack, 1)
        frame.stack.append(Value("[" + object_type(self._pool.class_name(self._index(instruction)))))
        return used

    def _new_arrays(self, frame: Frame, instruction: Instruction) -> list[Value]:
        used = _pop(frame.stack, self._code[instruction.pc + 3])
        frame.stack.append(Value(object_type(self._pool.class_name(self._index(instruction)))))
        return used

    def _cast(self, frame: Frame, instruction: Instruction) -> list[Value]:
        # It is still the same value: a tracked one keeps its origin, and null stays null.
        value = frame.stack.pop()
        kind = NULL if value.type == NULL else object_type(self._pool.class_name(self._index(instruction)))
        frame.stack.append(Value(kind, value.origin))
        return _NOTHING

    def _wide(self, frame: Frame, instruction: Instruction) -> list[Value]:
        opcode = self._code[instruction.pc + 1]
        if OPCODES["istore"] <= opcode <= OPCODES["astore"]:
            return self._store(frame, instruction)
        if OPCODES["iload"] <= opcode <= OPCODES["aload"]:
            return self._load(frame, instruction)
        if opcode != OPCODES["iinc"]:
            raise ClassFileError(f"wide at {instruction.pc} before opcode {opcode}")
        return _NOTHING

    def _push_result(self, frame: Frame, pc: int, descriptor: str) -> None:
        if descriptor == "V":
            return
        origin = frozenset((pc,)) if descriptor in self._tracked.types else NO_ORIGIN
        frame.stack.append(Value(of_descriptor(descriptor), origin))

    def _constructed(self, frame: Frame, made: Value) -> None:
        if made.type == UNINITIALIZED_THIS:
            kind = self._this
        elif made.type.startswith(UNINITIALIZED):
            at = int(made.type.removeprefix(UNINITIALIZED))
            kind = object_type(self._pool.class_name(unpack_from(">H", self._code, at + 1)[0]))
        else:
            raise ClassFileError(f"a constructor is called on a {made.type}")
        ready = Value(kind)
        for values in (frame.locals, frame.stack):
            values[:] = [ready if value.type == made.type else value for value in values]

    def _slot(self, instruction: Instruction) -> int:
        opcode, code = instruction.opcode, self._code
        if opcode == OPCODES["wide"]:
            return int(unpack_from(">H", code, instruction.pc + 2)[0])
        if instruction.size == 2:
            return code[instruction.pc + 1]
        first = OPCODES["iload_0"] if opcode < OPCODES["istore"] else OPCODES["istore_0"]
        return (opcode - first) % 4

    def _index(self, instruction: Instruction) -> int:
        return int(unpack_from(">H", self._code, instruction.pc + 1)[0])


def _plain(stack: list[Value], pops: int, pushes: str) -> list[Value]:
    used = _pop(stack, pops) if pops else _NOTHING
    if pushes:
        stack.append(Value(pushes))
    return used


def _pop(stack: list[Value], count: int) -> list[Value]:
    if not count:
        return _NOTHING
    if len(stack) < count:
        raise IndexError("pop from an empty stack")
    used = stack[-count:]
    del stack[-count:]
    return used


def _take(stack: list[Value], slots: int) -> list[Value]:
    """Pops values that fill this many slots."""
    taken: list[Value] = []
    while slots > 0:
        value = stack.pop()
        slots -= 2 if value.type in _WIDE_TYPES else 1
        taken.insert(0, value)
    return taken


_Handler = Callable[[Effects, Frame, Instruction], list[Value]]


def _handlers() -> tuple[_Handler, ...]:
    by_opcode: list[_Handler] = [Effects._new] * len(EFFECTS)
    groups: tuple[tuple[_Handler, str], ...] = (
        (Effects._constant, "ldc ldc_w ldc2_w"),
        (Effects._load_element, "aaload"),
        (Effects._discard, "pop pop2"),
        (Effects._duplicate, " ".join(_DUPLICATES)),
        (Effects._swap, "swap"),
        (Effects._get_field, "getstatic getfield"),
        (Effects._put_field, "putstatic putfield"),
        (Effects._invoke, "invokevirtual invokespecial invokestatic invokeinterface"),
        (Effects._invoke_dynamic, "invokedynamic"),
        (Effects._new, "new"),
        (Effects._new_array, "newarray"),
        (Effects._new_reference_array, "anewarray"),
        (Effects._new_arrays, "multianewarray"),
        (Effects._cast, "checkcast"),
        (Effects._wide, "wide"),
    )
    for handler, names in groups:
        for name in names.split():
            by_opcode[OPCODES[name]] = handler
    for opcode in range(OPCODES["iload"], OPCODES["aload_3"] + 1):
        by_opcode[opcode] = Effects._load
    for opcode in range(OPCODES["istore"], OPCODES["astore_3"] + 1):
        by_opcode[opcode] = Effects._store
    return tuple(by_opcode)


_HANDLERS = _handlers()
