"""A class beside one whose updaters stay: offsets or VarHandles in constants, and the helpers."""

from unjank.jvm.bytecode import Assembler
from unjank.jvm.classfile import Access, ClassFile, ConstantPool, MemberRef
from unjank.jvm.rewrite.changes import Companion
from unjank.jvm.rewrite.helpers import add_helper
from unjank.jvm.rewrite.initialise import add_initialiser, add_method, initialiser
from unjank.jvm.rewrite.owner import add_field, add_unsafe

_CONSTANT = Access.STATIC | Access.FINAL | Access.SYNTHETIC | Access.PRIVATE


def companion_class(companion: Companion) -> ClassFile:
    """The new class."""
    pool = ConstantPool.empty()
    open_to_all = companion.helpers.openness & Access.PUBLIC
    access = Access.FINAL | Access.SUPER | Access.SYNTHETIC | open_to_all
    this_index, super_index = pool.add_class(companion.name), pool.add_class("java/lang/Object")
    cls = ClassFile(companion.minor, companion.major, pool, access, this_index, super_index, [])
    static = Assembler(pool, ())
    for cell in companion.cells.values():
        add_field(cls, cell.handle, _CONSTANT)
        if cell.target == "unsafe":
            add_unsafe(cls, cell)
        add_initialiser(cls, cell)
        static.invoke("invokestatic", initialiser(cell))
        static.field("putstatic", cell.handle)
    static.give_back("V")
    add_method(cls, MemberRef(companion.name, "<clinit>", "()V"), static.finish(), Access.STATIC)
    for member, helper in companion.helpers.helpers.items():
        add_helper(cls, helper, companion.helpers.access[member])
    return cls
