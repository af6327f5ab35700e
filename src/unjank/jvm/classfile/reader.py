"""Bytes to a class file. Each length is checked before it is believed."""

from dataclasses import dataclass
from struct import error as struct_error
from struct import unpack_from

from unjank.jvm.classfile.model import MAGIC, Attribute, ClassFile, Member
from unjank.jvm.classfile.pool import ConstantPool
from unjank.jvm.errors import ClassFileError


@dataclass(frozen=True, slots=True)
class ClassHeader:
    """What other classes need to know of one: its place in the hierarchy."""

    name: str
    super_name: str | None
    interfaces: tuple[str, ...]
    access: int
    major: int


def parse_header(data: bytes) -> ClassHeader:
    """Reads no further than the superinterfaces.

    Raises:
        ClassFileError: The bytes are no class file, or cut short.
    """
    try:
        cls, _ = _head(data)
        return ClassHeader(cls.name, cls.super_name, tuple(cls.interfaces), cls.access, cls.major)
    except struct_error as error:
        raise ClassFileError("the class file is cut short") from error


def parse_class(data: bytes) -> ClassFile:
    """Reads a whole class file.

    Raises:
        ClassFileError: The bytes are no class file, cut short, longer than what they hold, or an index of a
            name leads nowhere.
    """
    try:
        cls, at = _head(data)
        cls.fields, at = _members(data, at)
        cls.methods, at = _members(data, at)
        cls.attributes, at = _attributes(data, at)
    except struct_error as error:
        raise ClassFileError("the class file is cut short") from error
    if at != len(data):
        raise ClassFileError(f"{len(data) - at} bytes follow the end of the class")
    _check_names(cls)
    return cls


def _head(data: bytes) -> tuple[ClassFile, int]:
    magic, minor, major = unpack_from(">IHH", data, 0)
    if magic != MAGIC:
        raise ClassFileError("it does not begin as a class file does")
    pool = ConstantPool(data, 8)
    access, this_index, super_index, count = unpack_from(">HHHH", data, pool.end)
    interfaces = list(unpack_from(f">{count}H", data, pool.end + 8))
    return ClassFile(
        minor, major, pool, access, this_index, super_index, interfaces
    ), pool.end + 8 + 2 * count


def _members(data: bytes, at: int) -> tuple[list[Member], int]:
    (count,) = unpack_from(">H", data, at)
    at += 2
    members = []
    for _ in range(count):
        access, name, descriptor = unpack_from(">HHH", data, at)
        attributes, at = _attributes(data, at + 6)
        members.append(Member(access, name, descriptor, attributes))
    return members, at


def _attributes(data: bytes, at: int) -> tuple[list[Attribute], int]:
    (count,) = unpack_from(">H", data, at)
    at += 2
    found = []
    for _ in range(count):
        name, length = unpack_from(">HI", data, at)
        at += 6
        if at + length > len(data):
            raise ClassFileError("an attribute is cut short")
        found.append(Attribute(name, data[at : at + length]))
        at += length
    return found, at


def _check_names(cls: ClassFile) -> None:
    """Finds bad indexes here, so that what comes after may rely on names."""
    _ = cls.name, cls.super_name, cls.interfaces
    for member in (*cls.fields, *cls.methods):
        cls.key(member)
        for attribute in member.attributes:
            cls.pool.utf8(attribute.name_index)
    for attribute in cls.attributes:
        cls.pool.utf8(attribute.name_index)
