"""StackMapTable (JVMS 4.7.4): the types that hold where paths meet, as the compiler declares them."""

from struct import error as struct_error
from struct import unpack_from

from unjank.jvm.bytecode.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    NULL,
    TOP,
    UNINITIALIZED,
    UNINITIALIZED_THIS,
    object_type,
)
from unjank.jvm.classfile import ConstantPool
from unjank.jvm.errors import ClassFileError

Types = list[str]
_SIMPLE = (TOP, INT, FLOAT, DOUBLE, LONG, NULL, UNINITIALIZED_THIS)


def parse_stack_map(data: bytes, pool: ConstantPool, initial: Types) -> dict[int, tuple[Types, Types]]:
    """Declared frames by place: local variables, one entry per variable, and stack.

    Args:
        data: The attribute's content.
        pool: The class's constants.
        initial: The local variables at the method's start.

    Raises:
        ClassFileError: The table is malformed.
    """
    try:
        return _Reader(data, pool).table(initial)
    except (struct_error, IndexError) as error:
        raise ClassFileError("a StackMapTable is cut short") from error


class _Reader:
    def __init__(self, data: bytes, pool: ConstantPool) -> None:
        self._data = data
        self._pool = pool
        self._at = 0

    def table(self, variables: Types) -> dict[int, tuple[Types, Types]]:
        frames = {}
        pc = -1
        for _ in range(self._u2()):
            kind = self._u1()
            delta, variables, stack = self._frame(kind, variables)
            pc += delta + 1
            frames[pc] = (variables, stack)
        if self._at != len(self._data):
            raise ClassFileError("a StackMapTable is longer than what it holds")
        return frames

    def _frame(self, kind: int, variables: Types) -> tuple[int, Types, Types]:
        if kind < 64:
            return kind, variables, []
        if kind < 128:
            return kind - 64, variables, [self._type()]
        if kind < 247:
            raise ClassFileError(f"a StackMapTable has a frame of the unknown kind {kind}")
        delta = self._u2()
        if kind == 247:
            return delta, variables, [self._type()]
        if kind < 251:
            kept = len(variables) - (251 - kind)
            if kept < 0:
                raise ClassFileError("a StackMapTable takes away more local variables than there are")
            return delta, variables[:kept], []
        if kind < 255:
            return delta, variables + [self._type() for _ in range(kind - 251)], []
        all_variables = [self._type() for _ in range(self._u2())]
        return delta, all_variables, [self._type() for _ in range(self._u2())]

    def _type(self) -> str:
        tag = self._u1()
        if tag < len(_SIMPLE):
            return _SIMPLE[tag]
        if tag == 7:
            return object_type(self._pool.class_name(self._u2()))
        if tag == 8:
            return f"{UNINITIALIZED}{self._u2()}"
        raise ClassFileError(f"a StackMapTable has a type of the unknown kind {tag}")

    def _u1(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _u2(self) -> int:
        self._at += 2
        return int(unpack_from(">H", self._data, self._at - 2)[0])
