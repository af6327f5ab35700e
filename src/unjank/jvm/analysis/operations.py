"""The three updaters of java.util.concurrent.atomic and what can be called on them."""

from enum import Enum, StrEnum
from typing import NamedTuple

_PACKAGE = "java/util/concurrent/atomic/"
_OBJECT = "Ljava/lang/Object;"
_FUNCTION = "Ljava/util/function/"

NEEDLE = b"FieldUpdater"
"""Bytes that every class has which names an updater: the cheap test before a class is parsed."""


class Kind(Enum):
    """What an updater updates. The value: name, the field's descriptor, letter in the names of functions."""

    REFERENCE = ("Reference", _OBJECT, "")
    INTEGER = ("Integer", "I", "Int")
    LONG = ("Long", "J", "Long")

    @property
    def class_name(self) -> str:
        """The updater's class, internal name."""
        return f"{_PACKAGE}Atomic{self.value[0]}FieldUpdater"

    @property
    def descriptor(self) -> str:
        """The updater's type."""
        return f"L{self.class_name};"

    @property
    def value_descriptor(self) -> str:
        """How values appear in the updater's methods; a reference field may have a narrower type."""
        return self.value[1]

    @property
    def factory(self) -> str:
        """Descriptor of `newUpdater`."""
        classes = "Ljava/lang/Class;" * (2 if self is Kind.REFERENCE else 1)
        return f"({classes}Ljava/lang/String;){self.descriptor}"

    @property
    def unary(self) -> str:
        """Type of the function that `getAndUpdate` takes."""
        return f"{_FUNCTION}{self.value[2]}UnaryOperator;"

    @property
    def binary(self) -> str:
        """Type of the function that `getAndAccumulate` takes."""
        return f"{_FUNCTION}{self.value[2]}BinaryOperator;"


BY_CLASS = {kind.class_name: kind for kind in Kind}
BY_DESCRIPTOR = {kind.descriptor: kind for kind in Kind}
UPDATER_TYPES = frozenset(BY_DESCRIPTOR)


class Role(StrEnum):
    """What an argument is for, which decides what must be known of its type."""

    HOLDER = "holder"  # the updater checks that it is of the class
    EXPECTED = "expected"  # only compared: any type will do
    VALUE = "value"  # stored: the updater checks that the field may hold it
    OPERAND = "operand"  # given to a function or added
    FUNCTION = "function"


class Operation(NamedTuple):
    """A method of an updater."""

    kind: Kind
    name: str
    roles: tuple[Role, ...]
    descriptor: str


_HOLDER = (Role.HOLDER,)
_SHAPES: dict[str, tuple[tuple[Role, ...], str]] = {
    "get": (_HOLDER, "v"),
    "set": ((*_HOLDER, Role.VALUE), "V"),
    "lazySet": ((*_HOLDER, Role.VALUE), "V"),
    "getAndSet": ((*_HOLDER, Role.VALUE), "v"),
    "compareAndSet": ((*_HOLDER, Role.EXPECTED, Role.VALUE), "Z"),
    "weakCompareAndSet": ((*_HOLDER, Role.EXPECTED, Role.VALUE), "Z"),
    "getAndUpdate": ((*_HOLDER, Role.FUNCTION), "v"),
    "updateAndGet": ((*_HOLDER, Role.FUNCTION), "v"),
    "getAndAccumulate": ((*_HOLDER, Role.OPERAND, Role.FUNCTION), "v"),
    "accumulateAndGet": ((*_HOLDER, Role.OPERAND, Role.FUNCTION), "v"),
}
_NUMERIC: dict[str, tuple[tuple[Role, ...], str]] = {
    "getAndIncrement": (_HOLDER, "v"),
    "getAndDecrement": (_HOLDER, "v"),
    "incrementAndGet": (_HOLDER, "v"),
    "decrementAndGet": (_HOLDER, "v"),
    "getAndAdd": ((*_HOLDER, Role.OPERAND), "v"),
    "addAndGet": ((*_HOLDER, Role.OPERAND), "v"),
}


def _operation(kind: Kind, name: str, roles: tuple[Role, ...], result: str) -> Operation:
    value = kind.value_descriptor
    function = kind.binary if Role.OPERAND in roles else kind.unary
    types = {Role.HOLDER: _OBJECT, Role.FUNCTION: function}
    parameters = "".join(types.get(role, value) for role in roles)
    return Operation(kind, name, roles, f"({parameters}){value if result == 'v' else result}")


def _all_operations() -> dict[tuple[str, str, str], Operation]:
    found = {}
    for kind in Kind:
        shapes = _SHAPES if kind is Kind.REFERENCE else _SHAPES | _NUMERIC
        for name, (roles, result) in shapes.items():
            operation = _operation(kind, name, roles, result)
            found[kind.class_name, name, operation.descriptor] = operation
    return found


OPERATIONS = _all_operations()
"""By class, name and descriptor, as a call names them."""
