"""A class file to bytes; of an unchanged class exactly those that were read."""

from struct import pack

from unjank.jvm.classfile.model import MAGIC, Attribute, ClassFile, Member


def write_class(cls: ClassFile) -> bytes:
    """The bytes of a class file."""
    parts = [pack(">IHH", MAGIC, cls.minor, cls.major), cls.pool.to_bytes()]
    parts.append(pack(">HHHH", cls.access, cls.this_index, cls.super_index, len(cls.interface_indexes)))
    parts.append(pack(f">{len(cls.interface_indexes)}H", *cls.interface_indexes))
    _members(cls.fields, parts)
    _members(cls.methods, parts)
    _attributes(cls.attributes, parts)
    return b"".join(parts)


def _members(members: list[Member], parts: list[bytes]) -> None:
    parts.append(pack(">H", len(members)))
    for member in members:
        parts.append(pack(">HHH", member.access, member.name_index, member.descriptor_index))
        _attributes(member.attributes, parts)


def _attributes(attributes: list[Attribute], parts: list[bytes]) -> None:
    parts.append(pack(">H", len(attributes)))
    for attribute in attributes:
        parts += [pack(">HI", attribute.name_index, len(attribute.data)), attribute.data]
