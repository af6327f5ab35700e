"""Instructions, stack maps and the flow of values through a method."""

from struct import pack

import pytest
from tests.jvm.classes import ClassBuilder

from unjank.jvm import ClassFileError
from unjank.jvm.bytecode import Assembler, Instruction, Tracked, Value, analyse, decode, parse_descriptor
from unjank.jvm.bytecode.decode import successors
from unjank.jvm.bytecode.opcodes import NAMES, OPCODES, SIZES
from unjank.jvm.bytecode.types import ELSEWHERE
from unjank.jvm.classfile import CodeAttribute, ExceptionRange, MemberRef, parse_class

TRACKED = Tracked(frozenset(("Lp/T;",)))
FIRST, SECOND = MemberRef("p/C", "A", "Lp/T;"), MemberRef("p/C", "B", "Lp/T;")


def test_lengths_of_instructions() -> None:
    """Spot checks against the specification, one of each form."""
    expected = {
        "nop": 1, "bipush": 2, "sipush": 3, "ldc": 2, "ldc_w": 3, "iload": 2, "iload_3": 1, "iinc": 3,
        "ifeq": 3, "goto": 3, "getstatic": 3, "invokevirtual": 3, "invokeinterface": 5, "invokedynamic": 5,
        "new": 3, "newarray": 2, "multianewarray": 4, "goto_w": 5, "ifnonnull": 3, "athrow": 1, "ret": 2,
        "tableswitch": 0,
    }  # fmt: skip
    assert {name: SIZES[OPCODES[name]] for name in expected} == expected
    assert len(NAMES) == 202


def test_switches_are_aligned() -> None:
    """Operands of switches begin at a multiple of four, counted from the method's start."""
    table = b"\x00" * 2 + b"\xaa" + b"\x00" + pack(">iiiii", 30, 1, 2, 40, 50)
    steps = decode(table)
    assert [(step.pc, step.size) for step in steps] == [(0, 1), (1, 1), (2, 22)]
    assert successors(table, steps[2]) == ([32, 42, 52], False)
    lookup = b"\xab" + b"\x00" * 3 + pack(">iiii", 20, 1, 7, 24)
    assert successors(lookup, decode(lookup)[0]) == ([20, 24], False)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"\xa8\x00\x03", "jsr at 0: subroutines"),
        (b"\xa9\x01", "ret at 0: subroutines"),
        (b"\xcb", "opcode 203"),
        (b"\xb2\x00", "cut short"),
        (b"\xaa\x00\x00\x00", "no instruction at 0"),
        (b"\xab\x00\x00\x00" + pack(">ii", 0, 0x7FFFFFFF), "2147483647 entries"),
        (b"\xab\x00\x00\x00" + pack(">ii", 0, -1), "-1 entries"),
    ],
)
def test_code_that_cannot_be_decoded(code: bytes, message: str) -> None:
    """Subroutines, unknown opcodes, cuts and absurd switches are refused with the place."""
    with pytest.raises(ClassFileError, match=message):
        decode(code)


def test_descriptors() -> None:
    """Parameters and result; nonsense is refused."""
    assert parse_descriptor("(I[JLp/T;[[Lp/T;D)V") == (("I", "[J", "Lp/T;", "[[Lp/T;", "D"), "V")
    for wrong in ("", "I", "(I", "(X)V", "(I)", "(I)VV", "(Lp/T)V"):
        with pytest.raises(ClassFileError, match="no method descriptor"):
            parse_descriptor(wrong)


def _uses(builder: ClassBuilder) -> dict[str, list[Value]]:
    """Of the class's last method, the values that calls of `p/C.use` are given."""
    cls = parse_class(builder.build())
    method = cls.methods[-1]
    code = cls.code(method)
    assert code is not None
    found: dict[str, list[Value]] = {}

    def observe(step: Instruction, used: list[Value]) -> None:
        if step.name == "invokestatic":
            name = cls.pool.member(int.from_bytes(code.code[step.pc + 1 : step.pc + 3], "big")).name
            found.setdefault(name, []).extend(used)

    analyse(cls, method, code, TRACKED).replay(observe)
    return found


def _use(asm: Assembler, name: str = "use") -> None:
    asm.invoke("invokestatic", MemberRef("p/C", name, "(Lp/T;)V"))


def test_a_value_remembers_its_instruction() -> None:
    """Through a local variable, dup and swap, the origin stays the getstatic."""

    def body(asm: Assembler) -> None:
        asm.field("getstatic", FIRST)
        asm.op("iconst_0")
        asm.op("swap")
        asm.op("dup")
        slot = asm.store_new()
        _use(asm)
        asm.op("pop")
        asm.load("Lp/T;", slot)
        _use(asm)
        asm.give_back("V")

    builder = ClassBuilder("p/C")
    builder.method("m", "()V", (), body)
    assert [value.origin for value in _uses(builder)["use"]] == [{0}, {0}]


def test_paths_that_meet_join_their_origins() -> None:
    """After a branch the value may be of either instruction; with a null on one path it may be of none."""

    def body(asm: Assembler) -> None:
        asm.field("getstatic", FIRST)
        slot = asm.store_new()
        asm.load("I", 0)
        asm.jump("ifeq", "other")
        asm.field("getstatic", SECOND)
        asm.store("Lp/T;", slot)
        asm.label("other")
        asm.load("Lp/T;", slot)
        _use(asm)
        asm.load("I", 0)
        asm.jump("ifeq", "end")
        asm.op("aconst_null")
        asm.store("Lp/T;", slot)
        asm.label("end")
        asm.load("Lp/T;", slot)
        _use(asm, "later")
        asm.give_back("V")

    builder = ClassBuilder("p/C")
    builder.method("m", "(I)V", ("I",), body)
    found = _uses(builder)
    (first,) = found["use"]
    (later,) = found["later"]
    assert len(first.origin) == 2
    assert ELSEWHERE not in first.origin
    assert later.origin == first.origin | {ELSEWHERE}


def test_a_loop_is_followed_to_the_end() -> None:
    """What a later turn of a loop stores is seen by the call at its head."""

    def body(asm: Assembler) -> None:
        asm.field("getstatic", FIRST)
        slot = asm.store_new()
        asm.label("head")
        asm.load("Lp/T;", slot)
        _use(asm)
        asm.field("getstatic", SECOND)
        asm.store("Lp/T;", slot)
        asm.load("I", 0)
        asm.jump("ifne", "head")
        asm.give_back("V")

    builder = ClassBuilder("p/C")
    builder.method("m", "(I)V", ("I",), body)
    assert len(_uses(builder)["use"][0].origin) == 2


def test_handlers_see_every_store_in_their_range() -> None:
    """A local variable that is changed within a try block may have either value in the handler."""
    builder = ClassBuilder("p/C")
    asm = Assembler(builder.cls.pool, ())
    asm.field("getstatic", FIRST)  # 0
    slot = asm.store_new()  # 3
    asm.mark("start")  # 5
    _use(asm_with_null(asm), "in")
    asm.field("getstatic", SECOND)
    asm.store("Lp/T;", slot)
    _use(asm_with_null(asm), "in")
    asm.mark("end")
    asm.give_back("V")
    asm.catch_all("start", "end", "handler", 1)
    asm.op("pop")
    asm.load("Lp/T;", slot)
    _use(asm)
    asm.give_back("V")
    builder.code("m", "()V", asm.finish())
    assert len(_uses(builder)["use"][0].origin) == 2


def asm_with_null(asm: Assembler) -> Assembler:
    """Pushes null first, for calls whose argument does not matter."""
    asm.op("aconst_null")
    return asm


@pytest.mark.parametrize("major", [48, 52])
def test_old_classes_have_no_stack_map(major: int) -> None:
    """Without declared frames types are joined; different classes join to Object, null to the other."""
    builder = ClassBuilder("p/C", major=major)
    code = bytes.fromhex("1a 99 0007 01 a7 0004 2b 57 b1".replace(" ", ""))
    builder.code("m", "(ILp/T;)V", CodeAttribute(1, 2, code, [], []))
    cls = parse_class(builder.build())
    attribute = cls.code(cls.methods[0])
    assert attribute is not None
    flow = analyse(cls, cls.methods[0], attribute, TRACKED)
    flow.replay(lambda _step, _used: None)
    assert flow.reached == {0, 1, 4, 5, 8, 9, 10}


@pytest.mark.parametrize(
    ("code", "handlers", "message"),
    [
        ("57b1", [], "do not fit"),
        ("a70001b1", [], "where no instruction begins"),
        ("03", [], "runs past its end"),
        ("1a9a000403b1", [], "do not fit|heights|begins"),
        ("4cb1", [], "do not fit"),
        ("b1", [ExceptionRange(0, 1, 9, 0)], "where no instruction begins"),
    ],
)
def test_code_that_does_not_fit(code: str, handlers: list[ExceptionRange], message: str) -> None:
    """Empty stacks, jumps into the middle and ends without a return are refused."""
    builder = ClassBuilder("p/C")
    builder.code("m", "(I)V", CodeAttribute(2, 1, bytes.fromhex(code), handlers, []))
    cls = parse_class(builder.build())
    attribute = cls.code(cls.methods[0])
    assert attribute is not None
    with pytest.raises(ClassFileError, match=message):
        analyse(cls, cls.methods[0], attribute, TRACKED)
