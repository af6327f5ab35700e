"""module-info.class: which modules a jar requires."""

from struct import error as struct_error
from struct import unpack_from

from unjank.jvm.classfile import ClassFile
from unjank.jvm.classfile.pool import Tag
from unjank.jvm.errors import ClassFileError

MODULE_INFO = "module-info"


def required_modules(cls: ClassFile) -> set[str]:
    """Names of the modules that a module descriptor requires.

    Raises:
        ClassFileError: It is no module descriptor, or damaged.
    """
    attribute = cls.attribute(cls.attributes, "Module")
    if attribute is None:
        raise ClassFileError("module-info.class describes no module")
    try:
        (count,) = unpack_from(">H", attribute.data, 6)
        rows = [unpack_from(">HHH", attribute.data, 8 + 6 * row)[0] for row in range(count)]
    except struct_error as error:
        raise ClassFileError("module-info.class is cut short") from error
    return {cls.pool.utf8(int.from_bytes(cls.pool.raw(index, Tag.MODULE), "big")) for index in rows}
