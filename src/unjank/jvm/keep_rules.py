"""Rules for R8 and ProGuard: the fields that the new code reaches by name keep their name and type."""

from collections.abc import Iterable

from unjank.jvm.rewrite.cell import Cell

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
_HEAD = (
    "# Written by unjank atomics: fields that are reached by their offset or VarHandle keep name and type.\n"
)


def keep_rules(cells: Iterable[Cell]) -> str:
    """The rules for some cells; empty without any."""
    found = sorted({(cell.owner, cell.target_field, cell.type, cell.target) for cell in cells})
    lines = [
        f"-keepclassmembers class {_dotted(owner)} {{ volatile {java_type(kind)} {field}; }}\n"
        for owner, field, kind, _ in found
    ]
    # Neither is in the android.jar that R8 compiles against, or not on every API level.
    if any(target == "unsafe" for *_, target in found):
        lines.append("-dontwarn sun.misc.Unsafe\n")
    if any(target == "varhandle" for *_, target in found):
        lines.append("-dontwarn java.lang.invoke.**\n")
    return _HEAD + "".join(lines) if lines else ""


def java_type(descriptor: str) -> str:
    """A field descriptor as Java writes it."""
    dimensions = len(descriptor) - len(descriptor.lstrip("["))
    element = descriptor[dimensions:]
    name = _PRIMITIVES.get(element) or _dotted(element[1:-1])
    return name + "[]" * dimensions


def _dotted(name: str) -> str:
    return name.replace("/", ".")
