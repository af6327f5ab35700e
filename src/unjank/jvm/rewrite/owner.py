"""The class that had an updater: its field is reused for the offset or VarHandle, and helpers are added.

The static initialiser keeps its length: where the updater was built, a method is called that gives offset or
VarHandle. Accessors that nobody calls any more make an updater anew, in case that somebody outside does.
"""

from struct import pack

from unjank.jvm.analysis.plan import UpdaterPlan
from unjank.jvm.analysis.summary import MethodKey
from unjank.jvm.bytecode import Assembler
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.classfile import Access, ClassFile, Member, MemberRef, Tag
from unjank.jvm.errors import ClassFileError
from unjank.jvm.rewrite.calls import Patches, apply_patches, call_patches, find_method
from unjank.jvm.rewrite.cell import Cell
from unjank.jvm.rewrite.changes import UnitChange
from unjank.jvm.rewrite.helpers import add_helper
from unjank.jvm.rewrite.initialise import (
    add_initialiser,
    add_unsafe_getter,
    initialiser,
    push_new_updater,
)
from unjank.jvm.rewrite.serial import add_serial, default_serial, has_serial

_CLINIT = MethodKey("<clinit>", "()V")
_OF_OLD_TYPE = ("Signature", "RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations")
_ADDED_FIELD = Access.PRIVATE | Access.STATIC | Access.SYNTHETIC


def change_class(cls: ClassFile, change: UnitChange) -> None:
    """Does to a class all that was planned for it.

    Raises:
        ClassFileError: Something that was planned for is not there, or the constant pool is full.
    """
    serial = default_serial(cls) if change.keep_serial and not has_serial(cls) else None
    patches = call_patches(cls, change)
    for plan, cell in change.removed:
        _reuse_field(cls, cell)
        _initialise(cls, plan, cell, patches)
    apply_patches(cls, patches)
    for accessor, cell in change.accessors:
        _make_anew(cls, accessor, cell)
    for member, helper in change.helpers.helpers.items():
        add_helper(cls, helper, change.helpers.access[member])
    if serial is not None:
        add_serial(cls, serial)


def add_field(cls: ClassFile, field: MemberRef, access: int = _ADDED_FIELD) -> None:
    """Adds a field, unless it is there already."""
    if cls.find(cls.fields, field.name, field.descriptor) is None:
        name, descriptor = cls.pool.add_utf8(field.name), cls.pool.add_utf8(field.descriptor)
        cls.fields.append(Member(access, name, descriptor, []))


def add_unsafe(cls: ClassFile, cell: Cell) -> None:
    """Adds the field for the Unsafe and the method that gets it, once per class."""
    if cls.find(cls.fields, cell.unsafe.name, cell.unsafe.descriptor) is None:
        add_field(cls, cell.unsafe)
        add_unsafe_getter(cls, cell)


def _reuse_field(cls: ClassFile, cell: Cell) -> None:
    field = cls.find(cls.fields, cell.updater, cell.kind.descriptor)
    if field is None:
        raise ClassFileError(f"there is no field {cell.updater}")
    field.descriptor_index = cls.pool.add_utf8(cell.handle.descriptor)
    field.attributes = [
        attribute for attribute in field.attributes if cls.pool.utf8(attribute.name_index) not in _OF_OLD_TYPE
    ]


def _initialise(cls: ClassFile, plan: UpdaterPlan, cell: Cell, patches: Patches) -> None:
    place = plan.field.initialiser
    if place is None:
        raise ClassFileError(f"it is not known where {cell.updater} is built")
    add_field(cls, cell.fallback)
    if cell.target == "unsafe":
        add_unsafe(cls, cell)
    add_initialiser(cls, cell)
    call = bytes((OPCODES["invokestatic"],)) + pack(">H", cls.pool.add_member(Tag.METHOD, initialiser(cell)))
    put = bytes((OPCODES["putstatic"],)) + pack(">H", cls.pool.add_member(Tag.FIELD, cell.handle))
    padding = bytes((OPCODES["nop"],)) * (place.end - place.start - len(call + put))
    patches.setdefault(_CLINIT, {})[place.start] = padding + call + put


def _make_anew(cls: ClassFile, accessor: MethodKey, cell: Cell) -> None:
    method = find_method(cls, accessor)
    asm = Assembler(cls.pool, ())
    push_new_updater(asm, cell)
    asm.give_back(cell.kind.descriptor)
    code = asm.finish()
    old = cls.code(method)
    code.attributes = [] if old is None else [item for item in old.attributes if _is_line_table(cls, item[0])]
    cls.replace_code(method, code)


def _is_line_table(cls: ClassFile, name: int) -> bool:
    return cls.pool.utf8(name) == "LineNumberTable"
