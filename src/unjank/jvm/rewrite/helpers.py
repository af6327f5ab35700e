"""Helper methods: what the updater's method does, without its reflection.

The first parameter keeps the updater's type, so that a call is patched without moving a byte. Holder and
value have the types that were proven, so that a wrong proof is a VerifyError and not a damaged heap. What the
updater throws for a null or wrong holder or value, the helper throws.
"""

from dataclasses import dataclass

from unjank.jvm.analysis.operations import Kind, Operation, Role
from unjank.jvm.bytecode import Assembler, parse_descriptor
from unjank.jvm.bytecode.descriptors import slots
from unjank.jvm.bytecode.types import OBJECT
from unjank.jvm.classfile import Access, ClassFile, CodeAttribute, MemberRef
from unjank.jvm.rewrite.backends import HOLDER, VarHandleBackend, backend
from unjank.jvm.rewrite.cell import PREFIX, Cell
from unjank.jvm.rewrite.initialise import add_method

_CAST_EXCEPTION = "java/lang/ClassCastException"
_STEPS = {"getAndIncrement": 1, "incrementAndGet": 1, "getAndDecrement": -1, "decrementAndGet": -1}
_SHORT = ("get", "set", "lazySet", "compareAndSet", "weakCompareAndSet")
_UPDATER = 0


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper method.

    Attributes:
        cell: The field.
        operation: The updater's method that it replaces.
        checks_holder: It checks the holder's type, instead of declaring it.
        checks_value: It checks the value's type, instead of declaring it.
        expected_proven: The expected value's type is declared, where that matters.
    """

    cell: Cell
    operation: Operation
    checks_holder: bool = False
    checks_value: bool = False
    expected_proven: bool = False

    @property
    def types(self) -> tuple[str, ...]:
        """Parameter types: the updater, the holder, the rest."""
        declared, _ = parse_descriptor(self.operation.descriptor)
        typed = (self._type(role, kind) for role, kind in zip(self.operation.roles, declared, strict=True))
        return (self.cell.kind.descriptor, *typed)

    @property
    def result(self) -> str:
        """The result's type, that of the updater's method."""
        return parse_descriptor(self.operation.descriptor)[1]

    @property
    def member(self) -> MemberRef:
        """How it is called."""
        name = f"{PREFIX}{self.cell.updater}${self.operation.name}"
        return MemberRef(self.cell.host, name, f"({''.join(self.types)}){self.result}")

    @property
    def slow(self) -> MemberRef:
        """The method that the short form of it calls for everything out of the ordinary."""
        return self.member._replace(name=f"{self.member.name}$slow")

    @property
    def splits(self) -> bool:
        """True if it has a short form: C1 inlines methods of up to 35 bytes, which loops do not fit into."""
        return self.operation.name in _SHORT or (
            self.cell.target == "varhandle" and Role.FUNCTION not in self.operation.roles
        )

    def _type(self, role: Role, declared: str) -> str:
        if role is Role.HOLDER:
            return OBJECT if self.checks_holder else f"L{self.cell.owner};"
        if role is Role.VALUE:
            return declared if self.checks_value else self.cell.type
        if role is Role.EXPECTED and self.cell.target == "varhandle" and self.expected_proven:
            return declared if self.checks_value else self.cell.type
        return declared


def add_helper(cls: ClassFile, helper: Helper, access: int) -> None:
    """Adds the method to a class, and where that makes it shorter another one for what happens rarely."""
    flags = Access.STATIC | Access.SYNTHETIC
    if helper.splits:
        add_method(cls, helper.member, _Writer(cls, helper, short=True).write(), access | flags)
        add_method(cls, helper.slow, _Writer(cls, helper, short=False).write(), Access.PRIVATE | flags)
    else:
        add_method(cls, helper.member, _Writer(cls, helper, short=False).write(), access | flags)


class _Writer:
    """Writes the code of one helper: all of it, or the short form that leaves the rest to the other."""

    def __init__(self, cls: ClassFile, helper: Helper, *, short: bool) -> None:
        self._helper = helper
        self._short = short
        self._cell = helper.cell
        self._asm = Assembler(cls.pool, helper.types)
        self._backend = backend(self._asm, helper.cell)
        self._slots = self._place_parameters()
        self._throws = False
        self._checks = 0

    def write(self) -> CodeAttribute:
        self._check_updater()
        self._check_holder()
        if self._helper.checks_value and Role.VALUE in self._slots:
            self._check_value(self._slots[Role.VALUE])
        self._operate()
        self._write_slow_path()
        if self._throws:
            self._write_throw()
        return self._asm.finish()

    def _place_parameters(self) -> dict[Role, int]:
        found, slot = {}, HOLDER
        for role, kind in zip(self._helper.operation.roles, self._helper.types[1:], strict=True):
            found[role] = slot
            slot += slots(kind)
        return found

    def _check_updater(self) -> None:
        if not self._cell.in_owner:
            self._asm.load(self._cell.kind.descriptor, _UPDATER)
            self._asm.jump("ifnull", "slow")
        self._backend.jump_unless_ready("slow")

    def _check_holder(self) -> None:
        self._asm.load(OBJECT, HOLDER)
        if self._helper.checks_holder:
            self._asm.with_class("instanceof", self._cell.owner)
        self._throw_if("ifeq" if self._helper.checks_holder else "ifnull")

    def _check_value(self, slot: int) -> None:
        """Throws unless the value is null or of the field's type."""
        fits = f"fits{self._checks}"
        self._checks += 1
        self._asm.load(OBJECT, slot)
        self._asm.jump("ifnull", fits)
        self._asm.load(OBJECT, slot)
        self._asm.with_class("instanceof", self._cell.value_class)
        self._throw_if("ifeq")
        self._asm.label(fits)

    def _throw_if(self, condition: str) -> None:
        self._throws = not self._short
        self._asm.jump(condition, "slow" if self._short else "wrong")

    def _operate(self) -> None:
        name = self._helper.operation.name
        if name == "get":
            self._backend.get()
        elif name in ("set", "lazySet"):
            self._backend.set(self._slots[Role.VALUE], lazy=name == "lazySet")
        elif name in ("compareAndSet", "weakCompareAndSet"):
            self._compare_and_set()
        elif name == "getAndSet":
            self._get_and_set()
        elif Role.FUNCTION in self._slots:
            self._update()
        else:
            self._add()
        self._asm.give_back(self._helper.result)

    def _compare_and_set(self) -> None:
        expected = self._slots[Role.EXPECTED]
        typed = self._asm.type_of(expected) == self._cell.type
        if self._backend.compares_types and not typed:
            self._answer_false_unless_of_type(expected)
        self._backend.compare_and_set(expected, self._slots[Role.VALUE])

    def _answer_false_unless_of_type(self, expected: int) -> None:
        """A field cannot hold what is not of its type; the updater compares and finds it different."""
        self._asm.load(OBJECT, expected)
        self._asm.jump("ifnull", "comparable")
        self._asm.load(OBJECT, expected)
        self._asm.with_class("instanceof", self._cell.value_class)
        if self._short:
            self._asm.jump("ifeq", "slow")
        else:
            self._asm.jump("ifne", "comparable")
            self._backend.get()
            self._asm.op("pop")
            self._asm.op("iconst_0")
            self._asm.give_back("Z")
        self._asm.label("comparable")

    def _get_and_set(self) -> None:
        value = self._slots[Role.VALUE]
        if isinstance(self._backend, VarHandleBackend):
            self._backend.get_and_set(value)
            return
        previous = self._begin_loop()
        self._backend.compare_and_set(previous, value)
        self._end_loop(previous)

    def _add(self) -> None:
        delta = self._delta()
        name = self._helper.operation.name
        if isinstance(self._backend, VarHandleBackend):
            self._backend.get_and_add(delta)
            if not name.startswith("getAnd"):
                self._plus(delta)
            return
        previous = self._begin_loop()
        self._asm.load(self._cell.type, previous)
        self._plus(delta)
        self._finish_update(previous)

    def _delta(self) -> int:
        """The local variable with what is added."""
        if Role.OPERAND in self._slots:
            return self._slots[Role.OPERAND]
        up = _STEPS[self._helper.operation.name] > 0
        self._asm.op("iconst_1" if up else "iconst_m1")
        if self._cell.kind is Kind.LONG:
            self._asm.op("i2l")
        return self._asm.store_new()

    def _plus(self, delta: int) -> None:
        self._asm.load(self._cell.type, delta)
        self._asm.op("ladd" if self._cell.kind is Kind.LONG else "iadd")

    def _update(self) -> None:
        previous = self._begin_loop()
        value, kind = self._cell.kind.value_descriptor, self._cell.kind
        operands = [previous, *([self._slots[Role.OPERAND]] if Role.OPERAND in self._slots else [])]
        function = (kind.unary if len(operands) == 1 else kind.binary)[1:-1]
        self._asm.load(OBJECT, self._slots[Role.FUNCTION])
        for operand in operands:
            self._asm.load(value, operand)
        name = f"applyAs{kind.value[2]}" if kind.value[2] else "apply"
        method = MemberRef(function, name, f"({value * len(operands)}){value}")
        self._asm.invoke("invokeinterface", method)
        self._finish_update(previous)

    def _finish_update(self, previous: int) -> None:
        """Takes the new value from the stack and tries to set it, again and again."""
        following = self._asm.store_new()
        if self._cell.kind is Kind.REFERENCE and self._cell.type != OBJECT:
            self._check_value(following)
        self._backend.compare_and_set(previous, following)
        gives_old = self._helper.operation.name.startswith("getAnd")
        self._end_loop(previous if gives_old else following)

    def _begin_loop(self) -> int:
        self._asm.label("again")
        self._backend.get()
        return self._asm.store_new()

    def _end_loop(self, result: int) -> None:
        self._asm.jump("ifeq", "again")
        self._asm.load(self._cell.kind.value_descriptor, result)

    def _write_slow_path(self) -> None:
        """The updater itself: there is no offset or VarHandle, or the updater is not there yet."""
        self._asm.label("slow")
        operation = self._helper.operation
        method = MemberRef(operation.kind.class_name, operation.name, operation.descriptor)
        if self._cell.in_owner and not self._short:
            self._asm.field("getstatic", self._cell.fallback)
        else:
            self._asm.load(self._cell.kind.descriptor, _UPDATER)
        slot = HOLDER
        for kind in self._helper.types[1:]:
            self._asm.load(kind, slot)
            slot += slots(kind)
        if self._short:
            self._asm.invoke("invokestatic", self._helper.slow)
        else:
            self._asm.invoke("invokevirtual", method)
        self._asm.give_back(self._helper.result)

    def _write_throw(self) -> None:
        self._asm.label("wrong")
        self._asm.with_class("new", _CAST_EXCEPTION)
        self._asm.op("dup")
        self._asm.invoke("invokespecial", MemberRef(_CAST_EXCEPTION, "<init>", "()V"))
        self._asm.op("athrow")
