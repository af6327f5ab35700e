"""serialVersionUID: what the JVM computes for a class that does not name it (Java Object Serialization, 4.6).

Private static fields and private methods do not count, others do; a class that gets one of these has its
number written down first, so that objects written before can still be read.
"""

import hashlib
from struct import pack

from unjank.jvm.classfile import Access, Attribute, ClassFile, Member
from unjank.jvm.classfile.mutf8 import encode_mutf8

SERIAL_FIELD = "serialVersionUID"

_CLASS_FLAGS = Access.PUBLIC | Access.FINAL | Access.INTERFACE | Access.ABSTRACT
_VISIBILITY = Access.PUBLIC | Access.PRIVATE | Access.PROTECTED
_FIELD_FLAGS = _VISIBILITY | Access.STATIC | Access.FINAL | Access.VOLATILE | Access.TRANSIENT
_METHOD_FLAGS = (
    _VISIBILITY
    | Access.STATIC
    | Access.FINAL
    | Access.SYNCHRONIZED
    | Access.NATIVE
    | Access.ABSTRACT
    | Access.STRICT
)
_HIDDEN_FIELD = Access.STATIC | Access.TRANSIENT


def has_serial(cls: ClassFile) -> bool:
    """True if the class names its number, or never has one other than 0: an enum."""
    named = cls.find(cls.fields, SERIAL_FIELD, "J")
    wanted = Access.STATIC | Access.FINAL
    return bool(cls.access & Access.ENUM) or (named is not None and named.access & wanted == wanted)


def default_serial(cls: ClassFile) -> int:
    """The number that the JVM computes for the class as it is: of a SHA-1, 8 bytes, little endian."""
    parts = [_text(cls.name.replace("/", ".")), _number(_class_flags(cls))]
    parts += [_text(name.replace("/", ".")) for name in sorted(cls.interfaces)]
    parts += _fields(cls)
    if cls.find(cls.methods, "<clinit>", "()V") is not None:
        parts += [_text("<clinit>"), _number(Access.STATIC), _text("()V")]
    parts += _methods(cls, constructors=True) + _methods(cls, constructors=False)
    digest = hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little", signed=True)


def add_serial(cls: ClassFile, value: int) -> None:
    """Writes the number into the class, as a private constant."""
    index = cls.pool.add_long(value)
    constant = Attribute(cls.pool.add_utf8("ConstantValue"), pack(">H", index))
    access = Access.PRIVATE | Access.STATIC | Access.FINAL | Access.SYNTHETIC
    cls.fields.append(Member(access, cls.pool.add_utf8(SERIAL_FIELD), cls.pool.add_utf8("J"), [constant]))


def _class_flags(cls: ClassFile) -> int:
    """Flags as reflection tells them: those of a nested class are in InnerClasses."""
    flags = cls.access
    attribute = cls.attribute(cls.attributes, "InnerClasses")
    if attribute is not None:
        for at in range(2, len(attribute.data), 8):
            inner = int.from_bytes(attribute.data[at : at + 2], "big")
            if inner and cls.pool.class_name(inner) == cls.name:
                flags = int.from_bytes(attribute.data[at + 6 : at + 8], "big")
    flags &= _CLASS_FLAGS
    if flags & Access.INTERFACE:
        declared = any(cls.key(method)[0] != "<clinit>" for method in cls.methods)
        flags = flags | Access.ABSTRACT if declared else flags & ~Access.ABSTRACT
    return flags


def _fields(cls: ClassFile) -> list[bytes]:
    parts = []
    for name, descriptor, access in sorted((*cls.key(field), field.access) for field in cls.fields):
        if not access & Access.PRIVATE or not access & _HIDDEN_FIELD:
            parts += [_text(name), _number(access & _FIELD_FLAGS), _text(descriptor)]
    return parts


def _methods(cls: ClassFile, *, constructors: bool) -> list[bytes]:
    parts = []
    for name, descriptor, access in sorted((*cls.key(method), method.access) for method in cls.methods):
        special = name == "<init>"
        if special is constructors and name != "<clinit>" and not access & Access.PRIVATE:
            signature = descriptor.replace("/", ".")
            parts += [_text(name), _number(access & _METHOD_FLAGS), _text(signature)]
    return parts


def _text(text: str) -> bytes:
    raw = encode_mutf8(text)
    return pack(">H", len(raw)) + raw


def _number(value: int) -> bytes:
    return pack(">i", value)
