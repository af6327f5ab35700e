"""Class files: read and written unchanged, appended to, and broken ones refused with a reason."""

import random
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.jvm.classes import Holder, holder_builder, holder_class
from tests.jvm.conftest import JAVA, Compile

from unjank.jvm import ClassFileError
from unjank.jvm.analysis.summary import summarise
from unjank.jvm.classfile import ConstantPool, MemberRef, Tag, parse_class, parse_header, write_class
from unjank.jvm.classfile.mutf8 import decode_mutf8, encode_mutf8
from unjank.jvm.errors import PoolFullError


def test_written_is_what_was_read(compile_java: Compile) -> None:
    """Every byte of javac's classes is carried, understood or not: also after a second reading."""
    classes = compile_java({"p/Main.java": (JAVA / "Main.java").read_text()})
    files = sorted(classes.rglob("*.class"))
    assert len(files) >= 4
    for path in files:
        data = path.read_bytes()
        assert write_class(parse_class(write_class(parse_class(data)))) == data


def test_code_is_written_as_it_was_read(compile_java: Compile) -> None:
    """Code attributes with switches, handlers and nested attributes come out the same."""
    classes = compile_java({"p/Main.java": (JAVA / "Main.java").read_text()})
    cls = parse_class((classes / "p" / "Main.class").read_bytes())
    for method in cls.methods:
        code = cls.code(method)
        found = cls.attribute(method.attributes, "Code")
        assert (code is None) == (found is None)
        assert code is None or found is None or code.to_bytes() == found.data


def test_unknown_attributes_are_carried() -> None:
    """An attribute that nobody knows, on class and field, survives."""
    builder = holder_builder(Holder())
    from unjank.jvm.classfile import Attribute

    mystery = Attribute(builder.cls.pool.add_utf8("Mystery"), b"\x00\xff\x01")
    builder.cls.attributes.append(mystery)
    builder.cls.fields[0].attributes.append(mystery)
    data = builder.build()
    assert write_class(parse_class(data)) == data


def test_header_is_that_of_the_class() -> None:
    """Name, superclass and interfaces without reading the rest."""
    data = holder_class(Holder(super_name="p/Base", interfaces=("p/One", "p/Two")))
    header = parse_header(data)
    assert (header.name, header.super_name, header.interfaces) == ("p/Held", "p/Base", ("p/One", "p/Two"))


def test_constants_are_only_appended() -> None:
    """What is there keeps number and bytes; what is added twice is added once."""
    cls = parse_class(holder_class(Holder()))
    before = cls.pool.to_bytes()
    size = len(cls.pool)
    member = MemberRef("p/New", "name", "()J")
    index = cls.pool.add_member(Tag.METHOD, member)
    assert cls.pool.add_member(Tag.METHOD, member) == index >= size
    assert cls.pool.add_class("p/Held") < size
    assert cls.pool.member(index) == member
    assert cls.pool.to_bytes()[2:].startswith(before[2:])


def test_a_long_takes_two_slots() -> None:
    """The slot after a long is no constant, as the format has it."""
    pool = ConstantPool.empty()
    first, second = pool.add_long(5), pool.add_long(-1)
    assert second == first + 2
    with pytest.raises(ClassFileError, match="there is no constant 2"):
        pool.tag(first + 1)
    again = ConstantPool(pool.to_bytes(), 0)
    assert len(again) == len(pool)
    assert again.raw(second, Tag.LONG) == b"\xff" * 8


def test_a_full_pool_is_said_to_be_full() -> None:
    """65,534 constants fit, one more does not."""
    pool = ConstantPool.empty()
    for number in range(65534):
        pool.add_utf8(str(number))
    with pytest.raises(PoolFullError, match="the constant pool is full"):
        pool.add_utf8("one more")
    assert pool.add_utf8("77") == 78  # what is there already can still be had


@given(st.text(st.characters(codec="utf-8")))
def test_modified_utf8_goes_both_ways(text: str) -> None:
    """Zero is two bytes, others beyond the BMP two surrogates; encoding again is the same."""
    raw = encode_mutf8(text)
    assert b"\0" not in raw
    assert encode_mutf8(decode_mutf8(raw)) == raw
    assert decode_mutf8(raw).encode("utf-16", "surrogatepass").decode("utf-16") == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut short"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34", "cut short"),
        (b"PK\x03\x04 is no class", "does not begin as a class file does"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34\0\x02\x63", "unknown tag 99"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34\0\x09\x01", "cut short|ends in constant"),
    ],
)
def test_broken_headers_are_refused(data: bytes, message: str) -> None:
    """What is no class file says why."""
    with pytest.raises(ClassFileError, match=message):
        parse_class(data)


def test_every_cut_is_noticed() -> None:
    """A class file that ends anywhere before its end is refused, not half read."""
    data = holder_class(Holder())
    for length in range(len(data)):
        with pytest.raises(ClassFileError):
            parse_class(data[:length])
    with pytest.raises(ClassFileError, match="1 bytes follow"):
        parse_class(data + b"\0")


def test_damage_raises_nothing_but_its_error() -> None:
    """Random bytes changed: the class is still read, or refused with this package's error."""
    data = holder_class(Holder(accessor=True))
    random_source = random.Random(7)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(random_source.randint(1, 4)):
            damaged[random_source.randrange(8, len(data))] = random_source.randrange(256)
        try:
            summarise(parse_class(bytes(damaged)))
        except ClassFileError:
            refused += 1
    assert 500 < refused < 3000


def test_real_classes_are_written_as_read() -> None:
    """Classes of whatever jars Debian installed: each is written bit for bit."""
    jars = sorted(Path("/usr/share/java").glob("*.jar"))[:8]
    if not jars:
        pytest.skip("no jars in /usr/share/java; apt-get install libguava-java brings some")
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            names = [name for name in archive.namelist() if name.endswith(".class")][:40]
            for data in map(archive.read, names):
                assert write_class(parse_class(data)) == data
