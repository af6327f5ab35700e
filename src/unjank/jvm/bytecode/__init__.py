"""Bytecode: decoded, followed over operand stack and local variables, and put together.

opcodes.py      every instruction: name, length, effect on the stack
decode.py       code to instructions
descriptors.py  field and method descriptors
types.py        verification types, and values that remember which instruction made them
frames.py       StackMapTable
effects.py      what one instruction does to a frame
flow.py         all paths through a method to a fixed point
assembler.py    small methods, written down as instructions
"""

from unjank.jvm.bytecode.assembler import Assembler
from unjank.jvm.bytecode.decode import Instruction, decode
from unjank.jvm.bytecode.descriptors import parse_descriptor
from unjank.jvm.bytecode.flow import MethodFlow, Observer, analyse
from unjank.jvm.bytecode.types import Frame, Tracked, Value, object_type

__all__ = [
    "Assembler",
    "Frame",
    "Instruction",
    "MethodFlow",
    "Observer",
    "Tracked",
    "Value",
    "analyse",
    "decode",
    "object_type",
    "parse_descriptor",
]
