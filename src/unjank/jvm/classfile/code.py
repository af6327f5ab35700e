"""The Code attribute (JVMS 4.7.3)."""

from dataclasses import dataclass
from struct import error as struct_error
from struct import pack, unpack_from
from typing import NamedTuple

from unjank.jvm.errors import ClassFileError


class ExceptionRange(NamedTuple):
    """One row of the exception table; `catch_type` 0 catches everything."""

    start: int
    end: int
    handler: int
    catch_type: int


@dataclass(slots=True)
class CodeAttribute:
    """Code with its tables; nested attributes stay bytes: index of the name, content."""

    max_stack: int
    max_locals: int
    code: bytes
    exceptions: list[ExceptionRange]
    attributes: list[tuple[int, bytes]]

    @classmethod
    def parse(cls, data: bytes) -> "CodeAttribute":
        """Reads an attribute's content.

        Raises:
            ClassFileError: It is cut short, or longer than what it holds.
        """
        try:
            return cls._parse(data)
        except struct_error as error:
            raise ClassFileError("a Code attribute is cut short") from error

    @classmethod
    def _parse(cls, data: bytes) -> "CodeAttribute":
        max_stack, max_locals, length = unpack_from(">HHI", data, 0)
        at = 8 + length
        if length == 0 or at > len(data):
            raise ClassFileError(f"a method's code is said to have {length} bytes, which are not there")
        code = data[8:at]
        (count,) = unpack_from(">H", data, at)
        at += 2
        exceptions = []
        for _ in range(count):
            exceptions.append(ExceptionRange(*unpack_from(">HHHH", data, at)))
            at += 8
        attributes, at = _nested(data, at)
        if at != len(data):
            raise ClassFileError("a Code attribute is longer than what it holds")
        return cls(max_stack, max_locals, code, exceptions, attributes)

    def to_bytes(self) -> bytes:
        """The attribute's content."""
        parts = [pack(">HHI", self.max_stack, self.max_locals, len(self.code)), self.code]
        parts.append(pack(">H", len(self.exceptions)))
        parts += [pack(">HHHH", *row) for row in self.exceptions]
        parts.append(pack(">H", len(self.attributes)))
        for name, content in self.attributes:
            parts += [pack(">HI", name, len(content)), content]
        return b"".join(parts)


def _nested(data: bytes, at: int) -> tuple[list[tuple[int, bytes]], int]:
    (count,) = unpack_from(">H", data, at)
    at += 2
    found = []
    for _ in range(count):
        name, length = unpack_from(">HI", data, at)
        at += 6
        if at + length > len(data):
            raise ClassFileError("an attribute of a Code attribute is cut short")
        found.append((name, data[at : at + length]))
        at += length
    return found, at
