"""All paths through one method, to a fixed point.

Where the class file declares a frame (StackMapTable) its types are believed, as the JVM's verifier checks
them; in older classes types are joined. Origins are joined in either case, since no table speaks of them.
"""

from collections.abc import Callable, Iterable
from struct import error as struct_error

from unjank.jvm.bytecode.decode import Instruction, decode, successors
from unjank.jvm.bytecode.descriptors import parse_descriptor, slots
from unjank.jvm.bytecode.effects import Effects
from unjank.jvm.bytecode.frames import parse_stack_map
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.bytecode.types import (
    NO_ORIGIN,
    UNINITIALIZED_THIS,
    UNUSABLE,
    Frame,
    Tracked,
    Value,
    is_reference,
    join_origins,
    join_types,
    object_type,
    of_descriptor,
)
from unjank.jvm.classfile import Access, ClassFile, CodeAttribute, ExceptionRange, Member
from unjank.jvm.errors import ClassFileError

Observer = Callable[[Instruction, list[Value]], None]
"""Is told of each reached instruction that uses values up, with these."""

_CHANGES_LOCALS = frozenset(
    (*range(OPCODES["istore"], OPCODES["astore_3"] + 1), OPCODES["wide"], OPCODES["invokespecial"])
)


def analyse(cls: ClassFile, method: Member, code: CodeAttribute, tracked: Tracked) -> "MethodFlow":
    """Follows a method.

    Args:
        cls: Its class.
        method: The method.
        code: Its code.
        tracked: Which values remember the instruction that made them.

    Raises:
        ClassFileError: The code cannot be followed: subroutines, a jump into an instruction, a stack that
            does not fit.
    """
    flow = MethodFlow(cls, method, code, tracked)
    try:
        flow.run()
    except (IndexError, struct_error) as error:
        raise ClassFileError("the operand stack or the local variables do not fit the code") from error
    return flow


class MethodFlow:
    """Frames at each place where paths meet, and a replay of what happens between them."""

    def __init__(self, cls: ClassFile, method: Member, code: CodeAttribute, tracked: Tracked) -> None:
        self._cls = cls
        self._code = code
        self.instructions = decode(code.code)
        self._index = {instruction.pc: at for at, instruction in enumerate(self.instructions)}
        self._effects = Effects(cls.pool, code.code, object_type(cls.name), tracked)
        self._entry = _entry_locals(cls, method)
        self._declared = self._declared_frames()
        self._leaders = self._find_leaders()
        self._states: dict[int, Frame] = {}
        self._waiting: list[int] = []
        self.reached: set[int] = set()

    def run(self) -> None:
        """Carries frames along all paths until none changes."""
        self._join(0, self._frame_of(self._entry, []))
        while self._waiting:
            leader = self._waiting.pop()
            self._walk(leader, self._states[leader].copy(), None)

    def replay(self, observer: Observer) -> None:
        """Goes once over everything that was reached, in the order of places."""
        for leader in sorted(self._states):
            self._walk(leader, self._states[leader].copy(), observer)

    def _walk(self, leader: int, frame: Frame, observer: Observer | None) -> None:
        at = self._at(leader)
        changed = True
        while True:
            instruction = self.instructions[at]
            if observer is None and changed:
                self._into_handlers(instruction.pc, frame)
            used = self._effects.apply(frame, instruction)
            changed = instruction.opcode in _CHANGES_LOCALS
            if observer is not None:
                self.reached.add(instruction.pc)
                observer(instruction, used)
            targets, goes_on = successors(self._code.code, instruction)
            if observer is None:
                for target in targets:
                    self._join(target, frame)
            if not goes_on:
                return
            at += 1
            if at == len(self.instructions):
                raise ClassFileError("the code runs past its end")
            if self.instructions[at].pc in self._leaders:
                if observer is None:
                    self._join(self.instructions[at].pc, frame)
                return

    def _into_handlers(self, pc: int, frame: Frame) -> None:
        for row in self._code.exceptions:
            if row.start <= pc < row.end:
                self._join(row.handler, Frame(frame.locals, [Value(self._caught(row))]))

    def _caught(self, row: ExceptionRange) -> str:
        if not row.catch_type:
            return "Ljava/lang/Throwable;"
        return object_type(self._cls.pool.class_name(row.catch_type))

    def _join(self, pc: int, frame: Frame) -> None:
        old = self._states.get(pc)
        new = self._declared_at(pc, frame) if pc in self._declared else frame.copy()
        if old is not None:
            new = _joined(old, new, pc)
            if new == old:
                return
        else:
            self._at(pc)
        self._states[pc] = new
        self._waiting.append(pc)

    def _declared_at(self, pc: int, coming: Frame) -> Frame:
        declared = self._declared[pc]
        if len(coming.stack) != len(declared.stack):
            raise ClassFileError(f"the stack at {pc} is not as high as declared")
        return Frame(
            _with_origins(declared.locals, coming.locals), _with_origins(declared.stack, coming.stack)
        )

    def _declared_frames(self) -> dict[int, Frame]:
        names = {self._cls.pool.utf8(name): content for name, content in self._code.attributes}
        if "StackMapTable" not in names:
            return {}
        frames = parse_stack_map(names["StackMapTable"], self._cls.pool, self._entry)
        return {pc: self._frame_of(variables, stack) for pc, (variables, stack) in frames.items()}

    def _frame_of(self, variables: Iterable[str], stack: Iterable[str]) -> Frame:
        by_slot: list[Value] = []
        for kind in variables:
            by_slot += [Value(kind), UNUSABLE][: slots(kind)]
        missing = self._code.max_locals - len(by_slot)
        if missing < 0:
            raise ClassFileError(f"a frame has more local variables than {self._code.max_locals}")
        return Frame(by_slot + [UNUSABLE] * missing, [Value(kind) for kind in stack])

    def _find_leaders(self) -> frozenset[int]:
        leaders = set(self._declared)
        for instruction in self.instructions:
            leaders.update(successors(self._code.code, instruction)[0])
        for row in self._code.exceptions:
            leaders.update((row.start, row.handler))
        return frozenset(leaders)

    def _at(self, pc: int) -> int:
        found = self._index.get(pc)
        if found is None:
            raise ClassFileError(f"there is a jump to {pc}, where no instruction begins")
        return found

    @property
    def leaders(self) -> frozenset[int]:
        """Places that are reached from elsewhere than the instruction before."""
        return self._leaders


def _entry_locals(cls: ClassFile, method: Member) -> list[str]:
    name, descriptor = cls.key(method)
    parameters, _ = parse_descriptor(descriptor)
    own = UNINITIALIZED_THIS if name == "<init>" else object_type(cls.name)
    this = [] if method.access & Access.STATIC else [own]
    return this + [of_descriptor(parameter) for parameter in parameters]


def _with_origins(declared: list[Value], coming: list[Value]) -> list[Value]:
    return [
        Value(wanted.type, value.origin) if value.origin and is_reference(wanted.type) else wanted
        for wanted, value in zip(declared, coming, strict=True)
    ]


def _joined(old: Frame, new: Frame, pc: int) -> Frame:
    if len(old.stack) != len(new.stack):
        raise ClassFileError(f"the stack at {pc} has different heights on two paths")
    return Frame(_joined_values(old.locals, new.locals), _joined_values(old.stack, new.stack))


def _joined_values(old: list[Value], new: list[Value]) -> list[Value]:
    return [one if one == other else _joined_value(one, other) for one, other in zip(old, new, strict=True)]


def _joined_value(one: Value, other: Value) -> Value:
    kind = join_types(one.type, other.type)
    return Value(kind, join_origins(one.origin, other.origin) if is_reference(kind) else NO_ORIGIN)
