"""Patches in methods that call updaters: each has the size of what it replaces, so that nothing moves."""

from collections import defaultdict
from struct import pack

from unjank.jvm.analysis.summary import MethodKey
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.classfile import ClassFile, Member, Tag
from unjank.jvm.errors import ClassFileError
from unjank.jvm.rewrite.changes import UnitChange

Patches = dict[MethodKey, dict[int, bytes]]
"""By method and place in its code, the new bytes."""

_PUSH_NULL = bytes((OPCODES["aconst_null"], OPCODES["nop"], OPCODES["nop"]))


def call_patches(cls: ClassFile, change: UnitChange) -> Patches:
    """Calls of helpers, and null in the place of updaters that are gone."""
    patches: Patches = defaultdict(dict)
    for method, pc, helper in change.calls:
        index = cls.pool.add_member(Tag.METHOD, helper)
        patches[method][pc] = bytes((OPCODES["invokestatic"],)) + pack(">H", index)
    for method, pc in change.nulls:
        patches[method][pc] = _PUSH_NULL
    return patches


def apply_patches(cls: ClassFile, patches: Patches) -> None:
    """Writes patches into the methods' code."""
    for key, by_place in patches.items():
        method = find_method(cls, key)
        code = cls.code(method)
        if code is None:
            raise ClassFileError(f"{''.join(key)} has no code")
        patched = bytearray(code.code)
        for pc, replacement in by_place.items():
            patched[pc : pc + len(replacement)] = replacement
        code.code = bytes(patched)
        cls.replace_code(method, code)


def find_method(cls: ClassFile, key: MethodKey) -> Member:
    """The method of that name and descriptor."""
    method = cls.find(cls.methods, key.name, key.descriptor)
    if method is None:
        raise ClassFileError(f"there is no method {''.join(key)}")
    return method
