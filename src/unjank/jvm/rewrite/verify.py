"""Changed classes, read again.

Nothing is believed of how they were made: constants are the old ones and then more, code differs only where a
patch was planned, and each call of a helper has arguments that the helper's types allow.
"""

from struct import unpack_from

from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.analysis.operations import UPDATER_TYPES
from unjank.jvm.analysis.summary import MethodKey, summarise
from unjank.jvm.bytecode import Instruction, Tracked, Value, analyse, parse_descriptor
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.bytecode.types import class_of, is_reference
from unjank.jvm.classfile import (
    Access,
    ClassFile,
    CodeAttribute,
    Member,
    MemberRef,
    parse_class,
    write_class,
)
from unjank.jvm.errors import VerificationError
from unjank.jvm.rewrite.cell import PREFIX
from unjank.jvm.rewrite.changes import Changes, UnitChange

_INVOKESTATIC = OPCODES["invokestatic"]
_CLINIT = MethodKey("<clinit>", "()V")
_PATCH = 3


class ClassVerifier:
    """Verifies the classes of one archive; first it has to be told all that were changed or added."""

    def __init__(self, hierarchy: Hierarchy, changes: Changes) -> None:
        self._hierarchy = hierarchy
        self._helpers: dict[tuple[str, str, str], int] = {}
        self._gone = {
            number: {(plan.owner, cell.updater) for plan, cell in change.removed}
            for number, change in changes.units.items()
        }

    def add(self, data: bytes) -> None:
        """Notes the helpers of a class."""
        cls = parse_class(data)
        for method in cls.methods:
            name, descriptor = cls.key(method)
            if name.startswith(PREFIX):
                self._helpers[cls.name, name, descriptor] = method.access

    def verify_added(self, data: bytes) -> None:
        """A new class."""
        cls = parse_class(data)
        self._same_when_written(cls, data)
        for method in cls.methods:
            self._follow(cls, method)

    def verify_changed(self, old_data: bytes, new_data: bytes, change: UnitChange) -> None:
        """A class file against what it was and what was planned."""
        old, new = parse_class(old_data), parse_class(new_data)
        self._same_when_written(new, new_data)
        self._check(new, new.pool.to_bytes()[2:].startswith(old.pool.to_bytes()[2:]), "constants moved")
        self._compare_frame(old, new)
        self._compare_fields(old, new, change)
        for before, after in zip(old.methods, new.methods, strict=False):
            self._compare_method(old, new, before, after, change)
        for added in new.methods[len(old.methods) :]:
            self._check(new, new.key(added)[0].startswith(PREFIX), "a method was added that is no helper")
            self._follow(new, added)

    def verify_reads(self, number: int, data: bytes) -> None:
        """A class file that names updaters: none of those that are gone."""
        summary = summarise(parse_class(data))
        own = self._gone.get(number, set())
        gone = own | {name for names in self._gone.values() for name in names if name[0] != summary.name}
        sources = [producer.source for producer in summary.producers] + summary.handles
        for source in [*sources, *summary.accessors.values()]:
            is_field = not source.descriptor.startswith("(")
            if is_field and source.descriptor in UPDATER_TYPES and (source.owner, source.name) in gone:
                raise VerificationError(f"{summary.name} still reads {source}, which is gone")

    def _same_when_written(self, cls: ClassFile, data: bytes) -> None:
        self._check(cls, write_class(cls) == data, "it is not the same when read and written")

    def _compare_frame(self, old: ClassFile, new: ClassFile) -> None:
        same = (old.access, old.this_index, old.super_index, old.interface_indexes, old.attributes) == (
            new.access,
            new.this_index,
            new.super_index,
            new.interface_indexes,
            new.attributes,
        )
        self._check(
            new, same and (old.major, old.minor) == (new.major, new.minor), "the class itself changed"
        )
        self._check(new, len(new.methods) >= len(old.methods), "a method is missing")

    def _compare_fields(self, old: ClassFile, new: ClassFile, change: UnitChange) -> None:
        handles = {cell.updater: cell.handle.descriptor for _, cell in change.removed}
        self._check(new, len(new.fields) >= len(old.fields), "a field is missing")
        for before, after in zip(old.fields, new.fields, strict=False):
            name, descriptor = old.key(before)
            is_updater = descriptor in UPDATER_TYPES and name in handles
            wanted = (name, handles[name] if is_updater else descriptor)
            self._check(new, new.key(after) == wanted and before.access == after.access, f"{name} changed")

    def _compare_method(
        self, old: ClassFile, new: ClassFile, before: Member, after: Member, change: UnitChange
    ) -> None:
        key = MethodKey(*old.key(before))
        self._check(new, new.key(after) == key and before.access == after.access, f"{key.name} changed")
        if any(accessor == key for accessor, _ in change.accessors):
            self._follow(new, after)
            return
        places = self._patched_places(key, change)
        if not places:
            self._check(new, before.attributes == after.attributes, f"{key.name} changed")
            return
        code, patched = old.code(before), new.code(after)
        if code is None or patched is None or not _same_but(code, patched, places):
            raise VerificationError(f"{new.name}.{key.name} differs where nothing was to change")
        nulls = frozenset(pc for method, pc in change.nulls if method == key)
        self._follow(new, after, nulls)

    def _patched_places(self, key: MethodKey, change: UnitChange) -> set[int]:
        places = {pc for method, pc, _ in change.calls if method == key}
        places |= {pc for method, pc in change.nulls if method == key}
        found = {place for pc in places for place in range(pc, pc + _PATCH)}
        if key == _CLINIT:
            for plan, _ in change.removed:
                if plan.field.initialiser is not None:
                    found |= set(range(plan.field.initialiser.start, plan.field.initialiser.end))
        return found

    def _follow(self, cls: ClassFile, method: Member, nulls: frozenset[int] = frozenset()) -> None:
        """Follows a method's code, and looks at the arguments of each call of a helper.

        The null that stands where an updater was read, at the places `nulls`, must not go anywhere else.
        """
        code = cls.code(method)
        if code is None:
            raise VerificationError(f"{cls.name}.{cls.key(method)[0]} lost its code")

        def observe(step: Instruction, used: list[Value]) -> None:
            if step.opcode == _INVOKESTATIC:
                called = cls.pool.member(unpack_from(">H", code.code, step.pc + 1)[0])
                if called.name.startswith(PREFIX):
                    self._check_call(cls, called, used)
                    used = used[1:]
            stray = [value for value in used if not nulls.isdisjoint(value.origin)]
            self._check(cls, not stray, f"an updater that is gone is used at {step.pc}")

        analyse(cls, method, code, Tracked(nulls=nulls)).replay(observe)

    def _check_call(self, cls: ClassFile, called: MemberRef, used: list[Value]) -> None:
        access = self._helpers.get((called.owner, called.name, called.descriptor))
        self._check(cls, access is not None, f"{called} is not there")
        outside = called.owner != cls.name
        self._check(
            cls, not (outside and access is not None and access & Access.PRIVATE), f"{called} is private"
        )
        for wanted, value in zip(parse_descriptor(called.descriptor)[0], used, strict=True):
            if is_reference(value.type):
                name = class_of(wanted)
                fits = value.type == wanted or (
                    name is not None and self._hierarchy.assignable(value.type, name, cls.name)
                )
                self._check(cls, fits, f"{called} gets a {value.type}")

    def _check(self, cls: ClassFile, holds: bool, otherwise: str) -> None:
        if not holds:
            raise VerificationError(f"{cls.name}: {otherwise}; nothing was written")


def _same_but(before: CodeAttribute, after: CodeAttribute, places: set[int]) -> bool:
    """True if code and tables are the same but for the bytes at these places."""
    tables = (before.max_stack, before.max_locals, before.exceptions, before.attributes) == (
        after.max_stack,
        after.max_locals,
        after.exceptions,
        after.attributes,
    )
    return (
        tables
        and len(before.code) == len(after.code)
        and all(
            one == other or at in places
            for at, (one, other) in enumerate(zip(before.code, after.code, strict=True))
        )
    )
