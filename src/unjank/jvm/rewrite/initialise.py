"""How a class has the offset or VarHandle when it is initialised; if that fails, the updater itself is used.

The field is named by constants in a row, `Owner.class.getDeclaredField("field")`, which R8 and ProGuard
understand.
"""

from unjank.jvm.analysis.operations import Kind
from unjank.jvm.bytecode import Assembler
from unjank.jvm.classfile import Access, Attribute, ClassFile, CodeAttribute, Member, MemberRef
from unjank.jvm.rewrite.cell import PREFIX, UNSAFE, VAR_HANDLE, Cell

_FIELD = "java/lang/reflect/Field"
_CLASS = "java/lang/Class"
_LOOKUP = "java/lang/invoke/MethodHandles$Lookup"
_HANDLES = "java/lang/invoke/MethodHandles"
_PRIMITIVES = {"I": "java/lang/Integer", "J": "java/lang/Long"}
_HELPER_ACCESS = Access.PRIVATE | Access.STATIC | Access.SYNTHETIC


def initialiser(cell: Cell) -> MemberRef:
    """The method that gives a cell's offset or VarHandle, and never throws."""
    return MemberRef(cell.host, f"{PREFIX}{cell.updater}$init", f"(){cell.handle.descriptor}")


def add_initialiser(cls: ClassFile, cell: Cell) -> None:
    """Adds that method to the class that has the cell's helpers."""
    asm = Assembler(cls.pool, ())
    asm.mark("start")
    if cell.target == "unsafe":
        _push_offset(asm, cell)
    else:
        _push_var_handle(asm, cell)
    asm.mark("end")
    asm.give_back(cell.handle.descriptor)
    asm.catch_all("start", "end", "failed", 0)
    asm.op("pop")
    _fall_back(asm, cell)
    add_method(cls, initialiser(cell), asm.finish())


def add_unsafe_getter(cls: ClassFile, cell: Cell) -> None:
    """Adds the method that gets the Unsafe by reflection, and may throw."""
    asm = Assembler(cls.pool, ())
    asm.load_class(UNSAFE)
    asm.load_string("theUnsafe")
    asm.invoke("invokevirtual", _declared_field())
    asm.op("dup")
    asm.op("iconst_1")
    asm.invoke("invokevirtual", MemberRef(_FIELD, "setAccessible", "(Z)V"))
    asm.op("aconst_null")
    asm.invoke("invokevirtual", MemberRef(_FIELD, "get", "(Ljava/lang/Object;)Ljava/lang/Object;"))
    asm.with_class("checkcast", UNSAFE)
    asm.give_back(cell.unsafe.descriptor)
    add_method(cls, _unsafe_getter(cell), asm.finish())


def push_new_updater(asm: Assembler, cell: Cell) -> None:
    """Builds an updater, from the constants that the class had."""
    asm.load_class(cell.owner)
    if cell.kind is Kind.REFERENCE:
        asm.load_class(cell.value_class)
    asm.load_string(cell.target_field)
    asm.invoke("invokestatic", MemberRef(cell.kind.class_name, "newUpdater", cell.kind.factory))


def add_method(cls: ClassFile, member: MemberRef, code: CodeAttribute, access: int = _HELPER_ACCESS) -> None:
    """Adds a method to a class."""
    name, descriptor = cls.pool.add_utf8(member.name), cls.pool.add_utf8(member.descriptor)
    attribute = Attribute(cls.pool.add_utf8("Code"), code.to_bytes())
    cls.methods.append(Member(access, name, descriptor, [attribute]))


def _push_offset(asm: Assembler, cell: Cell) -> None:
    asm.invoke("invokestatic", _unsafe_getter(cell))
    asm.op("dup")
    asm.field("putstatic", cell.unsafe)
    asm.load_class(cell.owner)
    asm.load_string(cell.target_field)
    asm.invoke("invokevirtual", _declared_field())
    asm.invoke("invokevirtual", MemberRef(UNSAFE, "objectFieldOffset", f"(L{_FIELD};)J"))


def _push_var_handle(asm: Assembler, cell: Cell) -> None:
    if not cell.in_owner:
        asm.load_class(cell.owner)
    asm.invoke("invokestatic", MemberRef(_HANDLES, "lookup", f"()L{_LOOKUP};"))
    if not cell.in_owner:
        private = MemberRef(_HANDLES, "privateLookupIn", f"(L{_CLASS};L{_LOOKUP};)L{_LOOKUP};")
        asm.invoke("invokestatic", private)
    asm.load_class(cell.owner)
    asm.load_string(cell.target_field)
    if cell.type in _PRIMITIVES:
        asm.field("getstatic", MemberRef(_PRIMITIVES[cell.type], "TYPE", f"L{_CLASS};"))
    else:
        asm.load_class(cell.value_class)
    find = f"(L{_CLASS};Ljava/lang/String;L{_CLASS};)L{VAR_HANDLE};"
    asm.invoke("invokevirtual", MemberRef(_LOOKUP, "findVarHandle", find))


def _fall_back(asm: Assembler, cell: Cell) -> None:
    """What there is instead of offset or VarHandle; callers of a companion bring their updater along."""
    if cell.in_owner:
        push_new_updater(asm, cell)
        asm.field("putstatic", cell.fallback)
    if cell.target == "unsafe":
        asm.load_long(-1)
    else:
        asm.op("aconst_null")
    asm.give_back(cell.handle.descriptor)


def _unsafe_getter(cell: Cell) -> MemberRef:
    return MemberRef(cell.host, f"{PREFIX}getUnsafe", f"()L{UNSAFE};")


def _declared_field() -> MemberRef:
    return MemberRef(_CLASS, "getDeclaredField", f"(Ljava/lang/String;)L{_FIELD};")
