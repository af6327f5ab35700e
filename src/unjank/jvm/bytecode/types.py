"""Verification types and values.

A type is a string: a descriptor for objects and arrays (`Ljava/lang/String;`, `[I`), one of the constants
below for the rest. A value also knows its *origin*: the places of the tracked instructions that may have made
it.
"""

from dataclasses import dataclass
from typing import NamedTuple

INT, LONG, FLOAT, DOUBLE = "I", "J", "F", "D"
TOP = "T"
"""Not to be used: never set, or set differently on two paths."""
NULL = "N"
UNINITIALIZED_THIS = "U"
"""`this` in a constructor, before the superclass's constructor was called."""
UNINITIALIZED = "U:"
"""Prefix of an object that was not constructed yet; the place of its `new` follows."""
OBJECT = "Ljava/lang/Object;"

NO_ORIGIN: frozenset[int] = frozenset()
ELSEWHERE = -1
"""In an origin: some other instruction may have made the value as well."""


class Value(NamedTuple):
    """A value on the stack or in a local variable."""

    type: str
    origin: frozenset[int] = NO_ORIGIN


class Tracked(NamedTuple):
    """Which values have an origin: of these types, from fields or calls; and nulls made at places."""

    types: frozenset[str] = frozenset()
    nulls: frozenset[int] = frozenset()


@dataclass(slots=True)
class Frame:
    """Local variables by slot, and the stack, last value on top. A long or double is one stack entry."""

    locals: list[Value]
    stack: list[Value]

    def copy(self) -> "Frame":
        """A frame that can be changed apart from this one."""
        return Frame(self.locals.copy(), self.stack.copy())


UNUSABLE = Value(TOP)


def object_type(name: str) -> str:
    """The type of a class constant's internal name: arrays are descriptors already."""
    return name if name.startswith("[") else f"L{name};"


def class_of(kind: str) -> str | None:
    """The internal name of an object type; None for arrays and all else."""
    return kind[1:-1] if kind.startswith("L") else None


def is_reference(kind: str) -> bool:
    """True for objects, arrays and null, constructed or not."""
    return kind[0] in "L[NU"


def of_descriptor(descriptor: str) -> str:
    """The verification type of a field descriptor: small integers are ints."""
    return INT if descriptor in ("Z", "B", "C", "S") else descriptor


def join_types(one: str, other: str) -> str:
    """The type after two paths meet, where the class file does not say: no class hierarchy is asked."""
    if one == other:
        return one
    if one == NULL and other[0] in "L[":
        return other
    if other == NULL and one[0] in "L[":
        return one
    return OBJECT if one[0] in "L[" and other[0] in "L[" else TOP


def join_origins(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    """Where a value may come from after two paths meet."""
    if one == other:
        return one
    return (one or frozenset((ELSEWHERE,))) | (other or frozenset((ELSEWHERE,)))
