"""Updater fields of a class: which field each updates, and whether it may be relied on."""

from dataclasses import dataclass
from struct import unpack_from

from unjank.jvm.analysis.operations import BY_DESCRIPTOR, Kind
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.bytecode import Instruction
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.bytecode.types import object_type
from unjank.jvm.classfile import Access, ClassFile, Member, MemberRef, Tag
from unjank.jvm.errors import ClassFileError

_PUTSTATIC = OPCODES["putstatic"]
_INVOKESTATIC = OPCODES["invokestatic"]
_CONSTANT = (OPCODES["ldc"], OPCODES["ldc_w"])


@dataclass(frozen=True, slots=True)
class Initialiser:
    """Where in `<clinit>` an updater is built: from the first constant to the end of the `putstatic`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class UpdaterField:
    """A field that holds an updater.

    `target` is the updated field's name, `target_type` its descriptor, "" while unknown. `refusal` says why
    it cannot be relied on; then `initialiser` is None.
    """

    name: str
    kind: Kind
    access: int
    target: str = ""
    target_type: str = ""
    target_access: int = 0
    initialiser: Initialiser | None = None
    refusal: Reason | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """A `putstatic` to an updater field: in which method, its instructions and its index among them."""

    method: str
    code: bytes
    instructions: list[Instruction]
    at: int
    leaders: frozenset[int]


def updater_fields(cls: ClassFile, assignments: dict[str, list[Assignment]]) -> list[UpdaterField]:
    """The fields of updater types that a class declares.

    Args:
        cls: The class.
        assignments: By field name, where its methods assign them.
    """
    found = []
    for field in cls.fields:
        name, descriptor = cls.key(field)
        if descriptor in BY_DESCRIPTOR:
            found.append(
                _updater_field(cls, field, name, BY_DESCRIPTOR[descriptor], assignments.get(name, []))
            )
    return found


def _updater_field(
    cls: ClassFile, field: Member, name: str, kind: Kind, assigned: list[Assignment]
) -> UpdaterField:
    wanted = Access.STATIC | Access.FINAL
    if field.access & wanted != wanted:
        return UpdaterField(name, kind, field.access, refusal=Reason.NOT_STATIC_FINAL)
    if len(assigned) != 1 or assigned[0].method != "<clinit>":
        return UpdaterField(name, kind, field.access, refusal=Reason.ASSIGNED_ELSEWHERE)
    built = _built_from_constants(cls, kind, assigned[0])
    if built is None:
        return UpdaterField(name, kind, field.access, refusal=Reason.NOT_CONSTANT)
    holder, value_type, target, initialiser = built
    refusal, target_type, target_access = _check_target(cls, kind, holder, value_type, target)
    return UpdaterField(
        name,
        kind,
        field.access,
        target,
        target_type,
        target_access,
        None if refusal else initialiser,
        refusal,
    )


def _built_from_constants(
    cls: ClassFile, kind: Kind, assignment: Assignment
) -> tuple[str, str, str, Initialiser] | None:
    """Holder, value type and field name, if just these constants come before the `putstatic`."""
    count = 4 if kind is Kind.REFERENCE else 3
    before = assignment.instructions[max(assignment.at - count, 0) : assignment.at]
    put = assignment.instructions[assignment.at]
    jumped_into = any(step.pc in assignment.leaders for step in [*before[1:], put])
    if len(before) < count or jumped_into or not _calls_factory(cls, kind, assignment.code, before[-1]):
        return None
    constants = [_constant(cls, assignment.code, step) for step in before[:-1]]
    if any(constant is None for constant in constants):
        return None
    (holder_tag, holder), *values, (name_tag, name) = [constant for constant in constants if constant]
    if holder_tag != Tag.CLASS or name_tag != Tag.STRING or any(tag != Tag.CLASS for tag, _ in values):
        return None
    value_type = object_type(values[0][1]) if values else kind.value_descriptor
    return holder, value_type, name, Initialiser(before[0].pc, put.pc + put.size)


def _calls_factory(cls: ClassFile, kind: Kind, code: bytes, step: Instruction) -> bool:
    if step.opcode != _INVOKESTATIC:
        return False
    called = cls.pool.member(unpack_from(">H", code, step.pc + 1)[0])
    return called == MemberRef(kind.class_name, "newUpdater", kind.factory)


def _constant(cls: ClassFile, code: bytes, step: Instruction) -> tuple[int, str] | None:
    if step.opcode not in _CONSTANT:
        return None
    index = code[step.pc + 1] if step.size == 2 else unpack_from(">H", code, step.pc + 1)[0]
    tag = cls.pool.tag(index)
    if tag == Tag.CLASS:
        return tag, cls.pool.class_name(index)
    return (tag, cls.pool.string(index)) if tag == Tag.STRING else None


def _check_target(
    cls: ClassFile, kind: Kind, holder: str, value_type: str, target: str
) -> tuple[Reason | None, str, int]:
    """Why the updated field does not fit (None if it does), its type and its access flags."""
    if holder != cls.name:
        return Reason.OTHER_HOLDER, value_type, 0
    fields = [field for field in cls.fields if cls.key(field)[0] == target]
    if not fields:
        return Reason.FIELD_MISSING, value_type, 0
    access = fields[0].access
    if len(fields) > 1 or cls.key(fields[0])[1] != value_type:
        return Reason.FIELD_TYPE, value_type, access
    if access & Access.STATIC:
        return Reason.FIELD_STATIC, value_type, access
    if not access & Access.VOLATILE:
        return Reason.FIELD_NOT_VOLATILE, value_type, access
    if kind is Kind.REFERENCE and value_type[0] not in "L[":
        raise ClassFileError(f"a reference updater of a {value_type}")
    return None, value_type, access
