"""Small classes put together without a JDK: a holder with a volatile field, its updater, and calls of it."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unjank.jvm.bytecode import Assembler
from unjank.jvm.classfile import (
    Access,
    Attribute,
    ClassFile,
    CodeAttribute,
    ConstantPool,
    Member,
    MemberRef,
    write_class,
)

UPDATER = "java/util/concurrent/atomic/AtomicIntegerFieldUpdater"
REFERENCE_UPDATER = "java/util/concurrent/atomic/AtomicReferenceFieldUpdater"
JAVA_8 = 52

Write = Callable[[Assembler], None]


class ClassBuilder:
    """Builds one class, member by member."""

    def __init__(
        self,
        name: str,
        *,
        super_name: str = "java/lang/Object",
        interfaces: Sequence[str] = (),
        access: int = Access.PUBLIC | Access.SUPER,
        major: int = JAVA_8,
    ) -> None:
        pool = ConstantPool.empty()
        this_index, super_index = pool.add_class(name), pool.add_class(super_name)
        self.cls = ClassFile(0, major, pool, access, this_index, super_index, [])
        self.cls.interface_indexes = [pool.add_class(other) for other in interfaces]

    def field(self, name: str, descriptor: str, access: int) -> None:
        """Adds a field."""
        pool = self.cls.pool
        self.cls.fields.append(Member(access, pool.add_utf8(name), pool.add_utf8(descriptor), []))

    def method(
        self, name: str, descriptor: str, parameters: Sequence[str], write: Write, access: int = 9
    ) -> None:
        """Adds a static method, public unless said otherwise."""
        assembler = Assembler(self.cls.pool, parameters)
        write(assembler)
        self.code(name, descriptor, assembler.finish(), access)

    def code(self, name: str, descriptor: str, code: CodeAttribute, access: int = 9) -> None:
        """Adds a method with this code."""
        pool = self.cls.pool
        attribute = Attribute(pool.add_utf8("Code"), code.to_bytes())
        member = Member(access, pool.add_utf8(name), pool.add_utf8(descriptor), [attribute])
        self.cls.methods.append(member)

    def build(self) -> bytes:
        """The class file."""
        return write_class(self.cls)


@dataclass(frozen=True)
class Holder:
    """What `holder_class` varies."""

    name: str = "p/Held"
    field_access: int = Access.VOLATILE
    updater_access: int = Access.PRIVATE | Access.STATIC | Access.FINAL
    target: str = "count"
    tclass: str = ""
    major: int = JAVA_8
    super_name: str = "java/lang/Object"
    interfaces: tuple[str, ...] = ()
    accessor: bool = False


def holder_builder(about: Holder) -> ClassBuilder:
    """A class with `volatile int count`, an updater `FU` of it, and a method `next` that increments it."""
    builder = ClassBuilder(
        about.name, super_name=about.super_name, interfaces=about.interfaces, major=about.major
    )
    builder.field("count", "I", about.field_access)
    builder.field("FU", f"L{UPDATER};", about.updater_access)
    updater = MemberRef(about.name, "FU", f"L{UPDATER};")

    def build_updater(asm: Assembler) -> None:
        asm.load_class(about.tclass or about.name)
        asm.load_string(about.target)
        asm.invoke("invokestatic", MemberRef(UPDATER, "newUpdater", f"(L{_CLASS};L{_STRING};)L{UPDATER};"))
        asm.field("putstatic", updater)
        asm.give_back("V")

    def increment(asm: Assembler) -> None:
        asm.field("getstatic", updater)
        asm.load(f"L{about.name};", 0)
        asm.invoke("invokevirtual", MemberRef(UPDATER, "incrementAndGet", "(Ljava/lang/Object;)I"))
        asm.give_back("I")

    builder.method("<clinit>", "()V", (), build_updater, access=Access.STATIC)
    builder.method("next", f"(L{about.name};)I", (f"L{about.name};",), increment)
    if about.accessor:
        builder.method("access$FU", f"()L{UPDATER};", (), lambda asm: _give(asm, updater), access=0x1008)
    return builder


def holder_class(about: Holder) -> bytes:
    """The same, as a class file."""
    return holder_builder(about).build()


def caller_class(name: str, holder: str, source: MemberRef, *, parameter: str = "") -> bytes:
    """A class whose method `call` increments a holder's field through an updater that it reads elsewhere."""
    kind = parameter or f"L{holder};"
    builder = ClassBuilder(name)

    def call(asm: Assembler) -> None:
        if source.descriptor.startswith("("):
            asm.invoke("invokestatic", source)
        else:
            asm.field("getstatic", source)
        asm.load(kind, 0)
        asm.invoke("invokevirtual", MemberRef(UPDATER, "incrementAndGet", "(Ljava/lang/Object;)I"))
        asm.give_back("I")

    builder.method("call", f"({kind})I", (kind,), call)
    return builder.build()


def zip_bytes(entries: Mapping[str, bytes], *, stored: Sequence[str] = ()) -> bytes:
    """A zip archive with these entries, some of them stored."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, (2020, 2, 2, 2, 2, 2))
            info.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


def _give(asm: Assembler, field: MemberRef) -> None:
    asm.field("getstatic", field)
    asm.give_back(field.descriptor)


_CLASS, _STRING = "java/lang/Class", "java/lang/String"
