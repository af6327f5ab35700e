"""Field and method descriptors (JVMS 4.3)."""

import re
from functools import lru_cache

from unjank.jvm.errors import ClassFileError

_FIELD = re.compile(r"\[*(?:[BCDFIJSZ]|L[^;\[]+;)")

_PRIMITIVES = {
    "I": "int",
    "J": "long",
    "Z": "boolean",
    "B": "byte",
    "C": "char",
    "S": "short",
    "F": "float",
    "D": "double",
}


@lru_cache(maxsize=4096)
def parse_descriptor(descriptor: str) -> tuple[tuple[str, ...], str]:
    """Parameters and result of a method descriptor, each a field descriptor; a result may be `V`.

    Raises:
        ClassFileError: It is no method descriptor.
    """
    parameters = []
    at = 1
    while descriptor[:1] == "(" and (found := _FIELD.match(descriptor, at)):
        parameters.append(found.group())
        at = found.end()
    result = descriptor[at + 1 :]
    if descriptor[at : at + 1] != ")" or not (result == "V" or _FIELD.fullmatch(result)):
        raise ClassFileError(f"{descriptor!r} is no method descriptor")
    return tuple(parameters), result


def slots(descriptor: str) -> int:
    """How many stack or local slots a value of this type takes."""
    return 2 if descriptor in ("J", "D") else 0 if descriptor == "V" else 1


def java_type(descriptor: str) -> str:
    """A field descriptor as Java writes it."""
    dimensions = len(descriptor) - len(descriptor.lstrip("["))
    element = descriptor[dimensions:]
    name = _PRIMITIVES.get(element) or element[1:-1].replace("/", ".")
    return name + "[]" * dimensions
