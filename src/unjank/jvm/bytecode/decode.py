"""Code to instructions: where each begins, how long it is, and where it may go next."""

from struct import error as struct_error
from struct import unpack_from
from typing import NamedTuple

from unjank.jvm.bytecode.opcodes import NAMES, OPCODES, SIZES
from unjank.jvm.errors import ClassFileError

_TABLESWITCH = OPCODES["tableswitch"]
_LOOKUPSWITCH = OPCODES["lookupswitch"]
_WIDE = OPCODES["wide"]
_IINC = OPCODES["iinc"]
_SUBROUTINES = (OPCODES["jsr"], OPCODES["ret"], OPCODES["jsr_w"])
_CONDITIONS = (*range(OPCODES["ifeq"], OPCODES["if_acmpne"] + 1), OPCODES["ifnull"], OPCODES["ifnonnull"])
_ENDS = (*range(OPCODES["ireturn"], OPCODES["return"] + 1), OPCODES["athrow"])
_GOTO = OPCODES["goto"]
_GOTO_W = OPCODES["goto_w"]


class Instruction(NamedTuple):
    """One instruction: where, which, how many bytes."""

    pc: int
    opcode: int
    size: int

    @property
    def name(self) -> str:
        """As the specification calls it."""
        return NAMES[self.opcode]


def decode(code: bytes) -> list[Instruction]:
    """All instructions, in order.

    Raises:
        ClassFileError: An unknown opcode, an instruction that is cut short, or a subroutine (jsr, ret), which
            compilers stopped to emit with Java 6.
    """
    found = []
    pc, end, sizes = 0, len(code), SIZES
    try:
        while pc < end:
            opcode = code[pc]
            size = sizes[opcode] or _variable_size(code, pc)
            if opcode in _SUBROUTINES:
                raise ClassFileError(f"{NAMES[opcode]} at {pc}: subroutines (jsr, ret) are not followed")
            found.append(Instruction(pc, opcode, size))
            pc += size
    except (IndexError, struct_error) as error:
        raise ClassFileError(f"there is no instruction at {pc}: {_what_is_there(code, pc)}") from error
    if pc != end:
        raise ClassFileError(f"the last instruction, at {found[-1].pc}, is cut short")
    return found


def successors(code: bytes, instruction: Instruction) -> tuple[list[int], bool]:
    """Where it may jump to, and whether it may also go on with the next instruction."""
    pc, opcode = instruction.pc, instruction.opcode
    if opcode in _CONDITIONS:
        return [pc + unpack_from(">h", code, pc + 1)[0]], True
    if opcode == _GOTO:
        return [pc + unpack_from(">h", code, pc + 1)[0]], False
    if opcode in (_TABLESWITCH, _LOOKUPSWITCH):
        return _switch_targets(code, pc), False
    if opcode == _GOTO_W:
        return [pc + unpack_from(">i", code, pc + 1)[0]], False
    return [], opcode not in _ENDS


def _variable_size(code: bytes, pc: int) -> int:
    opcode = code[pc]
    if opcode == _WIDE:
        return 6 if code[pc + 1] == _IINC else 4
    operands = pc + 4 - pc % 4
    if opcode == _TABLESWITCH:
        _, low, high = unpack_from(">iii", code, operands)
        entries, each = int(high - low + 1), 4
    else:
        entries = int(unpack_from(">ii", code, operands)[1])
        each = 8
    if not 0 <= entries <= len(code):
        raise ClassFileError(f"{NAMES[opcode]} at {pc} is said to have {entries} entries")
    return operands - pc + (12 if opcode == _TABLESWITCH else 8) + each * entries


def _switch_targets(code: bytes, pc: int) -> list[int]:
    operands = pc + 4 - pc % 4
    (default,) = unpack_from(">i", code, operands)
    if code[pc] == _TABLESWITCH:
        low, high = unpack_from(">ii", code, operands + 4)
        offsets = unpack_from(f">{high - low + 1}i", code, operands + 12)
    else:
        (pairs,) = unpack_from(">i", code, operands + 4)
        offsets = unpack_from(f">{2 * pairs}i", code, operands + 8)[1::2]
    return [pc + default, *(pc + offset for offset in offsets)]


def _what_is_there(code: bytes, pc: int) -> str:
    return f"opcode {code[pc]}" if code[pc] >= len(NAMES) else "the code ends in it"
