"""Java sources with every operation of the three updaters, over holders, argument forms and receivers.

Each generated class has one field, its updater, and one method per case, `op_CASE(h)`. The fixture's `Driver`
calls them by reflection with a fresh holder and prints what came back and what the field then holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template

FORMS = ("plain", "branch", "switch", "try")
PROVEN = ("right", "sub", "null", "literal_null")
"""Holders whose type is the updater's class: if a class has only these, its updater can go."""

HOLDERS = (*PROVEN, "wrong", "wrong_null")
RECEIVERS = {
    "local": ("$type u = U; ", "u", ""),
    "reassigned": ("$type u = null; for (int k = 0; k < 2; k++) u = k == 0 ? U : u; ", "u", ""),
    "ternary_same": ("", "(Forms.yes ? U : U)", ""),
    "ternary_two": ("", "(Forms.yes ? U : SECOND)", ""),
    "ternary_null": ("$type none = Forms.yes ? null : U; ", "none", ""),
    "parameter": ("", "same(U)", ""),
    "instance_field": ("$owner keeper = new $owner(); keeper.kept = U; ", "keeper.kept", ""),
    "static_field": ("stored = U; ", "stored", ""),
    "array": ("$raw[] us = {U}; ", "(($type) us[0])", ""),
    "list": ("", "java.util.List.of(U).get(0)", ""),
    "accessor": ("", "getU()", ""),
    "accessor_chain": ("", "access$$getU()", ""),
    "supplier": ("java.util.function.Supplier<$type> s = () -> U; ", "s.get()", ""),
    "lambda": ("Forms.Call c = () -> { ", "U", " }; return c.call();"),
    "twice": ("U.get(h); ", "U", ""),
}
"""How the updater reaches the call: statements before, the receiver, what follows the returning call."""


@dataclass(frozen=True)
class Kind:
    """One of the three updaters with a field's type.

    Attributes:
        name: Prefix of the generated classes.
        updater: Simple class name of the updater.
        field: Type of the field.
        values: Java expressions: what the field holds at first, and two others.
        lambdas: Functional arguments: of one and of two values.
        third: The class argument of `newUpdater` for references.
    """

    name: str
    updater: str
    field: str
    values: tuple[str, str, str]
    lambdas: tuple[str, str]
    third: str = ""

    @property
    def is_reference(self) -> bool:
        """Whether values are objects."""
        return bool(self.third)

    def type_in(self, holder: str) -> str:
        """The updater's generic type for a holder class."""
        return f"{self.updater}<{holder}, {self.field}>" if self.is_reference else f"{self.updater}<{holder}>"


_NUMERIC = ("x -> x + 3", "(x, y) -> x * y")
_LAST = ("x -> Forms.other(x)", "(x, y) -> y")

INT = Kind("Int", "AtomicIntegerFieldUpdater", "int", ("7", "41", "-5"), _NUMERIC)
LONG = Kind("Long", "AtomicLongFieldUpdater", "long", ("7L", "1L << 40", "-5L"), _NUMERIC)
VALUE = Kind(
    "Value",
    "AtomicReferenceFieldUpdater",
    "Value",
    ("Value.A", "Value.B", "Value.SUB"),
    ("x -> x == null ? Value.A : Value.SUB", "(x, y) -> y"),
    "Value.class",
)


def _reference(name: str, field: str, *values: str) -> Kind:
    first, second, third = (f"Values.{value}" for value in values)
    return Kind(
        name,
        "AtomicReferenceFieldUpdater",
        field,
        (first, second, third),
        (f"x -> x == {first} ? {second} : {first}", "(x, y) -> y"),
        f"{field}.class",
    )


KINDS = (INT, LONG, VALUE)
OTHER_FIELDS = (
    _reference("Any", "Object", "S", "T", "INTS"),
    _reference("Text", "String", "S", "T", "U"),
    _reference("Interface", "Runnable", "RUN", "GO", "ENUM"),
    _reference("Ints", "int[]", "INTS", "MORE", "NONE"),
    _reference("Objects", "Object[]", "OBJECTS", "STRINGS", "NESTED"),
)


@dataclass(frozen=True)
class Operation:
    """A method of an updater, with its arguments after the holder as Java expressions."""

    case: str
    method: str
    arguments: tuple[str, ...] = ()
    is_void: bool = False


def operations(kind: Kind) -> Iterator[Operation]:
    """Every method of the kind's updater; those that compare both hit and miss, functions also null."""
    first, second, third = kind.values
    yield Operation("get", "get")
    for method in ("set", "lazySet"):
        yield Operation(method, method, (second,), is_void=True)
    yield Operation("getAndSet", "getAndSet", (third,))
    for method in ("compareAndSet", "weakCompareAndSet"):
        yield Operation(f"{method}_hit", method, (first, second))
        yield Operation(f"{method}_miss", method, (third, second))
    for method in ("getAndUpdate", "updateAndGet"):
        yield Operation(method, method, (kind.lambdas[0],))
        yield Operation(f"{method}_null", method, ("null",))
    for method in ("getAndAccumulate", "accumulateAndGet"):
        yield Operation(method, method, (second, kind.lambdas[1]))
    if kind.is_reference:
        yield from _with_null_values(first)
        return
    for method in ("getAndIncrement", "getAndDecrement", "incrementAndGet", "decrementAndGet"):
        yield Operation(method, method)
    for method in ("getAndAdd", "addAndGet"):
        yield Operation(method, method, (third,))


def _with_null_values(first: str) -> Iterator[Operation]:
    yield Operation("set_to_null", "set", ("null",), is_void=True)
    yield Operation("getAndSet_to_null", "getAndSet", ("null",))
    yield Operation("compareAndSet_from_null", "compareAndSet", ("null", first))
    yield Operation("compareAndSet_to_null", "compareAndSet", (first, "null"))


def sources() -> dict[str, str]:
    """File names and texts of all generated classes, and of `Cases`, which lists them."""
    made = {f"{name}.java": text for name, text in _classes()}
    names = ", ".join(f'"{name[:-5]}"' for name in made)
    made["Cases.java"] = (
        f"package fixture;\nfinal class Cases {{\n  static final String[] ALL = {{{names}}};\n}}\n"
    )
    return made


def _classes() -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        for form in FORMS:
            name = f"{kind.name}_{form}"
            yield _own_class(kind, name, list(_form_cases(kind, form, name, HOLDERS)))
            name += "_proven"
            yield _own_class(kind, name, list(_form_cases(kind, form, name, PROVEN)))
        yield _own_class(
            kind, f"{kind.name}_receivers", list(_receiver_cases(kind, f"{kind.name}_receivers"))
        )
        owner = f"{kind.name}_plain"
        yield f"{kind.name}_outside", _outside(kind, owner)
    for kind in OTHER_FIELDS:
        name = f"{kind.name}_plain"
        yield _own_class(kind, name, list(_form_cases(kind, "plain", name, HOLDERS)))
    for kind in (VALUE, *OTHER_FIELDS):
        name = f"{kind.name}_lies"
        yield _own_class(kind, name, list(_wrong_values(kind)))


def _own_class(kind: Kind, name: str, cases: list[str]) -> tuple[str, str]:
    """A class with field, updater and cases, and its subclass."""
    updater, third = kind.type_in(name), f", {kind.third}" if kind.is_reference else ""
    access = "" if name.endswith("_plain") else "private "  # those of `_plain` are called from outside too
    text = f"""package fixture;
import java.util.concurrent.atomic.*;
@SuppressWarnings({{"unchecked", "rawtypes", "cast"}})
class {name} extends Holder {{
  volatile {kind.field} f = {kind.values[0]};
  volatile {kind.field} second = {kind.values[1]};
  {access}static final {updater} U = {kind.updater}.newUpdater({name}.class{third}, "f");
  {access}static final {updater} SECOND = {kind.updater}.newUpdater({name}.class{third}, "second");
  static {updater} stored;
  {updater} kept;
  static class Sub extends {name} {{}}
  static {name} fresh() {{ return new {name}(); }}
  static {name} sub() {{ return new Sub(); }}
  static {updater} same({updater} u) {{ return u; }}
  static {updater} getU() {{ return U; }}
  static {updater} access$getU() {{ return getU(); }}
  Object state() {{ return f; }}
{chr(10).join(cases)}
}}
"""
    return name, text


def _outside(kind: Kind, owner: str) -> str:
    """Calls on the updater of another class of the package."""
    cases = [
        _method(f"{operation.case}__{holder}", owner, _returned(operation, f"{owner}.U", _holder(holder)))
        for operation in operations(kind)
        for holder in ("right", "sub", "null")
    ]
    return f"""package fixture;
import java.util.concurrent.atomic.*;
class {kind.name}_outside {{
  static {owner} fresh() {{ return {owner}.fresh(); }}
  static {owner} sub() {{ return {owner}.sub(); }}
{chr(10).join(cases)}
}}
"""


def _form_cases(kind: Kind, form: str, owner: str, holders: Sequence[str]) -> Iterator[str]:
    for operation in operations(kind):
        arguments = tuple(
            # javac 17 cannot compile a try with a long below it on the stack
            value if form == "try" and index and kind is LONG else _in_form(form, value, kind)
            for index, value in enumerate(operation.arguments)
        )
        shaped = Operation(operation.case, operation.method, arguments, operation.is_void)
        for holder in holders:
            receiver = f"(({kind.updater}) U)" if holder.startswith("wrong") else "U"
            if holder.startswith("wrong") and any("->" in value for value in operation.arguments):
                shaped = Operation(
                    operation.case, operation.method, _typed(kind, arguments), operation.is_void
                )
            expression = _in_form(form, _holder(holder), None)
            yield _method(f"{operation.case}__{holder}", owner, _returned(shaped, receiver, expression))


def _typed(kind: Kind, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Lambdas for a raw updater, whose parameters are not known to the compiler."""
    box = kind.field if kind.is_reference else ""
    interface = {"int": "Int", "long": "Long"}.get(kind.field, "")
    unary = f"java.util.function.{interface}UnaryOperator" + (f"<{box}>" if box else "")
    binary = f"java.util.function.{interface}BinaryOperator" + (f"<{box}>" if box else "")
    casts = {kind.lambdas[0]: unary, kind.lambdas[1]: binary}
    return tuple(f"({casts[value]}) ({value})" if value in casts else value for value in arguments)


def _receiver_cases(kind: Kind, owner: str) -> Iterator[str]:
    names = {"type": kind.type_in(owner), "raw": kind.updater, "owner": owner}
    for name, parts in RECEIVERS.items():
        before, receiver, after = (Template(part).substitute(names) for part in parts)
        for operation in operations(kind):
            for holder in ("right", "null"):
                body = before + _returned(operation, receiver, _holder(holder)) + after
                yield _method(f"{name}__{operation.case}__{holder}", owner, body)


def _wrong_values(kind: Kind) -> Iterator[str]:
    """Values that the compiler would refuse, through the raw type."""
    wrong = "new StringBuilder()"
    raw = f"(({kind.updater}) U)"
    calls = [
        Operation("set", "set", (wrong,), is_void=True),
        Operation("lazySet", "lazySet", (wrong,), is_void=True),
        Operation("getAndSet", "getAndSet", (wrong,)),
        Operation("compareAndSet_update", "compareAndSet", (kind.values[0], wrong)),
        Operation("compareAndSet_expect", "compareAndSet", (wrong, kind.values[0])),
        Operation("weakCompareAndSet_update", "weakCompareAndSet", (kind.values[0], wrong)),
        Operation("updateAndGet", "updateAndGet", (f"(java.util.function.UnaryOperator) x -> {wrong}",)),
        Operation(
            "accumulateAndGet",
            "accumulateAndGet",
            (wrong, "(java.util.function.BinaryOperator) (x, y) -> y"),
        ),
    ]
    for operation in calls:
        for holder in ("right", "null"):
            body = _returned(operation, raw, _holder(holder))
            yield _method(f"{operation.case}__{holder}", f"{kind.name}_lies", body)


def _method(case: str, owner: str, body: str) -> str:
    return f"  static Object op_{case}({owner} h) {{ {body} }}"


def _returned(operation: Operation, receiver: str, holder: str) -> str:
    call = f"{receiver}.{operation.method}({', '.join((holder, *operation.arguments))})"
    return f'{call}; return "void";' if operation.is_void else f"return {call};"


def _holder(holder: str) -> str:
    """The driver passes a holder of the class, of a subclass, or null; lies are written down here."""
    return {"literal_null": "null", "wrong": '"wrong"', "wrong_null": "(Object) h"}.get(holder, "h")


def _in_form(form: str, value: str, kind: Kind | None) -> str:
    """An argument with jumps in it, so that the updater lies on the stack across them."""
    if form == "plain" or "->" in value:
        return value
    other = kind.values[0] if kind and value != "null" else "null"
    if form == "branch":
        return f"(Forms.yes ? {value} : {other})"
    if form == "switch":
        return f"switch (Forms.two) {{ case 1 -> {other}; case 2 -> {value}; default -> {other}; }}"
    guarded = f"try {{ Forms.check(); yield {value}; }} catch (IllegalStateException e) {{ yield {other}; }}"
    return f"switch (Forms.two) {{ default -> {{ {guarded} }} }}"
