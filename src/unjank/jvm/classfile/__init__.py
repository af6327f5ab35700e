"""Class files: read, append to, write; what is not understood is carried as it is.

pool.py     the constant pool, append only, decoded on demand
model.py    class, field, method, attribute
reader.py   bytes to model
writer.py   model to bytes
code.py     the Code attribute
mutf8.py    Java's modified UTF-8
access.py   access flags
"""

from unjank.jvm.classfile.access import Access
from unjank.jvm.classfile.code import CodeAttribute, ExceptionRange
from unjank.jvm.classfile.model import Attribute, ClassFile, Member
from unjank.jvm.classfile.pool import ConstantPool, MemberRef, Tag
from unjank.jvm.classfile.reader import ClassHeader, parse_class, parse_header
from unjank.jvm.classfile.writer import write_class

__all__ = [
    "Access",
    "Attribute",
    "ClassFile",
    "ClassHeader",
    "CodeAttribute",
    "ConstantPool",
    "ExceptionRange",
    "Member",
    "MemberRef",
    "Tag",
    "parse_class",
    "parse_header",
    "write_class",
]
