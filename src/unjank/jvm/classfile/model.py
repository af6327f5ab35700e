"""What a class file is made of. Attributes stay bytes until somebody asks for one."""

from dataclasses import dataclass, field

from unjank.jvm.classfile.code import CodeAttribute
from unjank.jvm.classfile.pool import ConstantPool
from unjank.jvm.errors import ClassFileError

MAGIC = 0xCAFEBABE


@dataclass(slots=True)
class Attribute:
    """One attribute: the index of its name, and its content."""

    name_index: int
    data: bytes


@dataclass(slots=True)
class Member:
    """A field or method."""

    access: int
    name_index: int
    descriptor_index: int
    attributes: list[Attribute]


@dataclass(slots=True)
class ClassFile:
    """A class file; changing it and writing it changes nothing else."""

    minor: int
    major: int
    pool: ConstantPool
    access: int
    this_index: int
    super_index: int
    interface_indexes: list[int]
    fields: list[Member] = field(default_factory=list)
    methods: list[Member] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Internal name, `java/lang/Object`."""
        return self.pool.class_name(self.this_index)

    @property
    def super_name(self) -> str | None:
        """Internal name of the superclass; None for Object and modules."""
        return self.pool.class_name(self.super_index) if self.super_index else None

    @property
    def interfaces(self) -> list[str]:
        """Internal names of the direct superinterfaces."""
        return [self.pool.class_name(index) for index in self.interface_indexes]

    def key(self, member: Member) -> tuple[str, str]:
        """Name and descriptor of one of its members."""
        return self.pool.utf8(member.name_index), self.pool.utf8(member.descriptor_index)

    def find(self, members: list[Member], name: str, descriptor: str) -> Member | None:
        """The member of that name and descriptor."""
        return next((member for member in members if self.key(member) == (name, descriptor)), None)

    def attribute(self, attributes: list[Attribute], name: str) -> Attribute | None:
        """The first attribute of that name."""
        return next((item for item in attributes if self.pool.utf8(item.name_index) == name), None)

    def code(self, method: Member) -> CodeAttribute | None:
        """The method's code, read anew each time; None if it is abstract or native.

        Raises:
            ClassFileError: The attribute is malformed.
        """
        found = self.attribute(method.attributes, "Code")
        return None if found is None else CodeAttribute.parse(found.data)

    def replace_code(self, method: Member, code: CodeAttribute) -> None:
        """Puts changed code in the place of the method's."""
        found = self.attribute(method.attributes, "Code")
        if found is None:
            raise ClassFileError("the method has no code to replace")
        found.data = code.to_bytes()
