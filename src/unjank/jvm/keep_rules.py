"""Rules for R8 and ProGuard: the fields that the new code reaches by name keep their name and type."""

from collections.abc import Iterable

from unjank.jvm.bytecode.descriptors import java_type
from unjank.jvm.rewrite.cell import Cell

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


def _dotted(name: str) -> str:
    return name.replace("/", ".")
