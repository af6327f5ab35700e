"""One class, summarised: its updaters, accessors, calls, and what else becomes of updaters in it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from struct import unpack_from
from typing import NamedTuple

from unjank.jvm.analysis.operations import BY_CLASS, OPERATIONS, UPDATER_TYPES, Operation
from unjank.jvm.analysis.updaters import Assignment, UpdaterField, updater_fields
from unjank.jvm.bytecode import Instruction, MethodFlow, Tracked, Value, analyse, decode
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.classfile import Access, ClassFile, CodeAttribute, Member, MemberRef, Tag
from unjank.jvm.errors import ClassFileError

_GETSTATIC = OPCODES["getstatic"]
_PUTSTATIC = OPCODES["putstatic"]
_INVOKESTATIC = OPCODES["invokestatic"]
_INVOKEVIRTUAL = OPCODES["invokevirtual"]
_ARETURN = OPCODES["areturn"]
_NAMES_MEMBER = frozenset(range(_GETSTATIC, OPCODES["invokeinterface"] + 1))


class MethodKey(NamedTuple):
    """A method within its class."""

    name: str
    descriptor: str


@dataclass(frozen=True, slots=True)
class Site:
    """A call of an updater's method.

    `origin` are the places of the instructions that may have made the updater, see `types.Value`; None if no
    path leads here. `types` are those of the arguments, without the updater.
    """

    method: MethodKey
    pc: int
    operation: Operation
    origin: frozenset[int] | None
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Producer:
    """An instruction that puts an updater on the stack.

    `uses` are the places of the calls that have it as receiver; `escapes` is True if anything else uses it,
    or it is not known what does.
    """

    method: MethodKey
    pc: int
    opcode: int
    source: MemberRef
    uses: frozenset[int]
    escapes: bool


@dataclass(slots=True)
class ClassSummary:
    """What the rest of the archive needs to know of a class.

    `pool_size` is the number of slots that its constant pool takes. `accessors` maps a static method that
    just returns an updater to the field or accessor that it reads. `handles` are members that a MethodHandle
    constant names. `failures` says of methods why they were not followed.
    """

    name: str
    major: int
    minor: int
    pool_size: int
    updaters: list[UpdaterField] = field(default_factory=list)
    accessors: dict[MethodKey, MemberRef] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    producers: list[Producer] = field(default_factory=list)
    handles: list[MemberRef] = field(default_factory=list)
    failures: dict[MethodKey, str] = field(default_factory=dict)


def summarise(cls: ClassFile) -> ClassSummary:
    """Reads one class.

    Raises:
        ClassFileError: The class is broken; a method that merely cannot be followed does not raise.
    """
    summary = ClassSummary(cls.name, cls.major, cls.minor, len(cls.pool))
    named = _members_of_interest(cls)
    summary.handles = [target for target in cls.pool.method_handle_targets() if _is_of_interest(target)]
    assignments: dict[str, list[Assignment]] = {}
    for method, code in _methods_naming(cls, named):
        _read_method(cls, method, code, named, summary, assignments)
    summary.updaters = updater_fields(cls, assignments)
    return summary


def _members_of_interest(cls: ClassFile) -> dict[int, MemberRef]:
    members = {
        index: cls.pool.member(index)
        for index in cls.pool.indexes(Tag.FIELD, Tag.METHOD, Tag.INTERFACE_METHOD)
    }
    return {index: member for index, member in members.items() if _is_of_interest(member)}


def _is_of_interest(member: MemberRef) -> bool:
    result = member.descriptor.rpartition(")")[2]
    return member.owner in BY_CLASS or result in UPDATER_TYPES


def _methods_naming(cls: ClassFile, named: Iterable[int]) -> Iterator[tuple[Member, CodeAttribute]]:
    """Methods whose code has the bytes of such an index: all that name one, and few others."""
    needles = [index.to_bytes(2, "big") for index in named]
    for method in cls.methods:
        found = cls.attribute(method.attributes, "Code")
        if found is not None and any(needle in found.data for needle in needles):
            yield method, CodeAttribute.parse(found.data)


def _read_method(
    cls: ClassFile,
    method: Member,
    code: CodeAttribute,
    named: dict[int, MemberRef],
    summary: ClassSummary,
    assignments: dict[str, list[Assignment]],
) -> None:
    key = MethodKey(*cls.key(method))
    mentions = {-1 - at: named[index] for at, index in enumerate(_indexes_in(code.code, named))}
    try:
        steps = decode(code.code)
        mentions = {step.pc: found for step in steps if (found := _mentioned(code.code, step, named))}
        if not mentions:
            return
        accessor = _accessor(method, key, steps, mentions)
        if accessor is not None:
            summary.accessors[key] = accessor
            return
        flow = analyse(cls, method, code, Tracked(UPDATER_TYPES))
    except ClassFileError as error:
        summary.failures[key] = str(error)
        _assume_the_worst(key, mentions, summary)
        return
    _add_assignments(cls, key, flow, code.code, mentions, assignments)
    _Reader(key, flow, mentions, summary).read()


def _indexes_in(code: bytes, named: Iterable[int]) -> list[int]:
    """Of code that may not be decodable: all indexes whose bytes it has."""
    return [index for index in named if index.to_bytes(2, "big") in code]


def _mentioned(code: bytes, step: Instruction, named: dict[int, MemberRef]) -> MemberRef | None:
    if step.opcode not in _NAMES_MEMBER:
        return None
    return named.get(unpack_from(">H", code, step.pc + 1)[0])


def _accessor(
    method: Member, key: MethodKey, steps: list[Instruction], mentions: dict[int, MemberRef]
) -> MemberRef | None:
    """What a static method without parameters returns, if it does nothing else."""
    plain = [step for step in steps if step.opcode != OPCODES["nop"]]
    fits = method.access & Access.STATIC and key.descriptor.startswith("()") and len(plain) == 2
    if not fits or plain[0].opcode not in (_GETSTATIC, _INVOKESTATIC) or plain[1].opcode != _ARETURN:
        return None
    source = mentions.get(plain[0].pc)
    same = source is not None and source.descriptor.removeprefix("()") == key.descriptor.removeprefix("()")
    return source if same else None


def _add_assignments(
    cls: ClassFile,
    key: MethodKey,
    flow: MethodFlow,
    code: bytes,
    mentions: dict[int, MemberRef],
    assignments: dict[str, list[Assignment]],
) -> None:
    for at, step in enumerate(flow.instructions):
        target = mentions.get(step.pc)
        if step.opcode == _PUTSTATIC and target is not None and target.owner == cls.name:
            found = Assignment(key.name, code, flow.instructions, at, flow.leaders)
            assignments.setdefault(target.name, []).append(found)


def _assume_the_worst(key: MethodKey, mentions: dict[int, MemberRef], summary: ClassSummary) -> None:
    """Of code that cannot be followed: each call stays, and each updater that it names escapes."""
    for pc, member in mentions.items():
        operation = OPERATIONS.get(member)
        if operation is not None:
            summary.sites.append(Site(key, pc, operation, None, ()))
        elif member.owner not in BY_CLASS:
            summary.producers.append(Producer(key, pc, _GETSTATIC, member, frozenset(), escapes=True))


class _Reader:
    """Collects calls and producers from one method's flow."""

    def __init__(
        self, key: MethodKey, flow: MethodFlow, mentions: dict[int, MemberRef], summary: ClassSummary
    ) -> None:
        self._key = key
        self._flow = flow
        self._mentions = mentions
        self._summary = summary
        self._receivers: dict[int, set[int]] = {}
        self._escaped: set[int] = set()

    def read(self) -> None:
        self._flow.replay(self._observe)
        for step in self._flow.instructions:
            member = self._mentions.get(step.pc)
            if member is None:
                continue
            operation = self._operation(step)
            if operation is not None:
                if step.pc not in self._flow.reached:
                    self._summary.sites.append(Site(self._key, step.pc, operation, None, ()))
            elif step.opcode != _PUTSTATIC and member.descriptor.rpartition(")")[2] in UPDATER_TYPES:
                self._add_producer(step, member)

    def _observe(self, step: Instruction, used: list[Value]) -> None:
        operation = self._operation(step)
        if operation is not None:
            receiver, *arguments = used
            types = tuple(value.type for value in arguments)
            self._summary.sites.append(Site(self._key, step.pc, operation, receiver.origin, types))
            for made_at in receiver.origin:
                self._receivers.setdefault(made_at, set()).add(step.pc)
            used = arguments
        for value in used:
            self._escaped.update(value.origin)

    def _operation(self, step: Instruction) -> Operation | None:
        member = self._mentions.get(step.pc)
        return OPERATIONS.get(member) if member is not None and step.opcode == _INVOKEVIRTUAL else None

    def _add_producer(self, step: Instruction, source: MemberRef) -> None:
        escapes = step.pc in self._escaped or step.pc not in self._flow.reached
        uses = frozenset(self._receivers.get(step.pc, ()))
        self._summary.producers.append(Producer(self._key, step.pc, step.opcode, source, uses, escapes))
