"""The constant pool: read on demand, append only, so that no index in code or attributes changes."""

from enum import IntEnum
from struct import Struct, unpack_from
from typing import NamedTuple

from unjank.jvm.classfile.mutf8 import decode_mutf8, encode_mutf8
from unjank.jvm.errors import ClassFileError, PoolFullError

MAX_SLOTS = 0xFFFF
"""Largest `constant_pool_count`; slot 0 is not used."""


class Tag(IntEnum):
    """Kinds of constants (JVMS table 4.4-B)."""

    UTF8 = 1
    INTEGER = 3
    FLOAT = 4
    LONG = 5
    DOUBLE = 6
    CLASS = 7
    STRING = 8
    FIELD = 9
    METHOD = 10
    INTERFACE_METHOD = 11
    NAME_AND_TYPE = 12
    METHOD_HANDLE = 15
    METHOD_TYPE = 16
    DYNAMIC = 17
    INVOKE_DYNAMIC = 18
    MODULE = 19
    PACKAGE = 20


class MemberRef(NamedTuple):
    """A field or method as code names it: class (internal name), name, descriptor."""

    owner: str
    name: str
    descriptor: str

    def __str__(self) -> str:
        return f"{self.owner.replace('/', '.')}.{self.name}{self.descriptor}"


# Bytes of a constant after its tag, by tag; 0: no such tag. A Utf8's length comes from its first two bytes.
_SIZES = (0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2)
_U2 = Struct(">H")
_TWO_U2 = Struct(">HH")
_MEMBERS = (Tag.FIELD, Tag.METHOD, Tag.INTERFACE_METHOD)


class ConstantPool:
    """The constants of one class.

    `_starts[i]` is where constant `i`'s tag is in `_data`, 0 for the slot after a long or double. What is
    added goes to the end of `_data`, so constants read from the file keep their bytes and numbers.
    """

    def __init__(self, data: bytes, start: int) -> None:
        """Reads the pool whose `constant_pool_count` is at `start`; `end` is the byte after it."""
        self._starts, self.end = _walk(data, start)
        self._data = bytearray(data[start + 2 : self.end])
        self._base = start + 2
        self._starts = [at and at - self._base + 1 for at in self._starts]
        self._strings: dict[int, str] = {}
        self._known: dict[bytes, int] = {}

    @classmethod
    def empty(cls) -> "ConstantPool":
        """A pool for a new class."""
        return cls(b"\x00\x01", 0)

    def __len__(self) -> int:
        """The `constant_pool_count`: one more than the largest index."""
        return len(self._starts)

    def tag(self, index: int) -> int:
        """The tag of a constant, see `Tag`."""
        return self._data[self._at(index)]

    def utf8(self, index: int) -> str:
        """The text of a Utf8 constant."""
        found = self._strings.get(index)
        if found is None:
            found = self._strings[index] = decode_mutf8(self.raw(index, Tag.UTF8)[2:])
        return found

    def class_name(self, index: int) -> str:
        """The internal name of a class constant, `java/lang/Object` or `[I`."""
        return self.utf8(self._reference(index, Tag.CLASS))

    def string(self, index: int) -> str:
        """The text of a String constant."""
        return self.utf8(self._reference(index, Tag.STRING))

    def name_and_type(self, index: int) -> tuple[str, str]:
        """Name and descriptor."""
        name, descriptor = _TWO_U2.unpack(self.raw(index, Tag.NAME_AND_TYPE))
        return self.utf8(name), self.utf8(descriptor)

    def member(self, index: int) -> MemberRef:
        """The field or method that a constant refers to."""
        if self.tag(index) not in _MEMBERS:
            raise ClassFileError(f"constant {index} is no field or method")
        owner, name_and_type = _TWO_U2.unpack(self.raw(index))
        return MemberRef(self.class_name(owner), *self.name_and_type(name_and_type))

    def descriptor_of_dynamic(self, index: int) -> str:
        """The descriptor of an InvokeDynamic or Dynamic constant."""
        if self.tag(index) not in (Tag.INVOKE_DYNAMIC, Tag.DYNAMIC):
            raise ClassFileError(f"constant {index} is not dynamic")
        _, name_and_type = _TWO_U2.unpack(self.raw(index))
        return self.name_and_type(name_and_type)[1]

    def raw(self, index: int, expected: int | None = None) -> bytes:
        """The bytes of a constant after its tag.

        Raises:
            ClassFileError: There is no such constant, or it has another tag than `expected`.
        """
        at = self._at(index)
        tag = self._data[at]
        if expected is not None and tag != expected:
            raise ClassFileError(f"constant {index} has tag {tag}, not {expected}")
        size = 2 + int.from_bytes(self._data[at + 1 : at + 3]) if tag == Tag.UTF8 else _SIZES[tag]
        return bytes(self._data[at + 1 : at + 1 + size])

    def indexes(self, *tags: int) -> list[int]:
        """The numbers of all constants with one of these tags."""
        data = self._data
        return [index for index, at in enumerate(self._starts) if at and data[at - 1] in tags]

    def method_handle_targets(self) -> list[MemberRef]:
        """Fields and methods that MethodHandle constants refer to: used without an instruction."""
        return [self.member(_U2.unpack(self.raw(index)[1:])[0]) for index in self.indexes(Tag.METHOD_HANDLE)]

    def add_utf8(self, text: str) -> int:
        """The number of a Utf8 constant with this text; added if there is none."""
        raw = encode_mutf8(text)
        return self._add(bytes((Tag.UTF8,)) + _U2.pack(len(raw)) + raw)

    def add_class(self, name: str) -> int:
        """The number of a class constant."""
        return self._add(bytes((Tag.CLASS,)) + _U2.pack(self.add_utf8(name)))

    def add_string(self, text: str) -> int:
        """The number of a String constant."""
        return self._add(bytes((Tag.STRING,)) + _U2.pack(self.add_utf8(text)))

    def add_long(self, value: int) -> int:
        """The number of a Long constant; it takes two slots."""
        return self._add(bytes((Tag.LONG,)) + value.to_bytes(8, "big", signed=True))

    def add_member(self, tag: int, member: MemberRef) -> int:
        """The number of a reference to a field or method."""
        pair = _TWO_U2.pack(self.add_utf8(member.name), self.add_utf8(member.descriptor))
        name_and_type = self._add(bytes((Tag.NAME_AND_TYPE,)) + pair)
        return self._add(bytes((tag,)) + _TWO_U2.pack(self.add_class(member.owner), name_and_type))

    def to_bytes(self) -> bytes:
        """The pool as it stands in a class file, from its count on."""
        return _U2.pack(len(self._starts)) + bytes(self._data)

    def _reference(self, index: int, tag: int) -> int:
        return int(_U2.unpack(self.raw(index, tag))[0])

    def _at(self, index: int) -> int:
        if not 0 < index < len(self._starts) or not self._starts[index]:
            raise ClassFileError(f"there is no constant {index} in a pool of {len(self._starts)}")
        return self._starts[index] - 1

    def _add(self, constant: bytes) -> int:
        if not self._known:
            self._index_all()
        found = self._known.get(constant)
        if found is not None:
            return found
        slots = 2 if constant[0] in (Tag.LONG, Tag.DOUBLE) else 1
        index = len(self._starts)
        if index + slots > MAX_SLOTS:
            raise PoolFullError(f"the constant pool is full: {index - 1} of {MAX_SLOTS - 1} slots are taken")
        self._starts += [len(self._data) + 1, 0][:slots]
        self._data += constant
        self._known[constant] = index
        return index

    def _index_all(self) -> None:
        for index, at in enumerate(self._starts):
            if at:
                self._known.setdefault(bytes((self._data[at - 1],)) + self.raw(index), index)


def _walk(data: bytes, start: int) -> tuple[list[int], int]:
    """Where each constant is, and where the pool ends."""
    (count,) = _U2.unpack_from(data, start)
    starts = [0]
    at = start + 2
    sizes = _SIZES
    try:
        while len(starts) < count:
            tag = data[at]
            starts.append(at)
            if tag == Tag.UTF8:
                at += 3 + unpack_from(">H", data, at + 1)[0]
                continue
            size = sizes[tag]
            if not size:
                raise ClassFileError(f"constant {len(starts) - 1} has the unknown tag {tag}")
            at += 1 + size
            if tag in (Tag.LONG, Tag.DOUBLE):
                starts.append(0)
    except IndexError as error:
        raise _bad_pool(data, at, len(starts) - 1) from error
    if at > len(data) or len(starts) != max(count, 1):
        raise ClassFileError(f"the constant pool of {count} constants is cut short")
    return starts, at


def _bad_pool(data: bytes, at: int, index: int) -> ClassFileError:
    if at < len(data):
        return ClassFileError(f"constant {index} has the unknown tag {data[at]}")
    return ClassFileError(f"the class file ends in constant {index}")
