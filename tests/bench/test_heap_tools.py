"""What is read from cachegrind, objdump and llvm-mca."""

from types import ModuleType

import pytest

from unjank import UnjankError
from unjank.bench import Report, Scale
from unjank.bench.heap import cachegrind, mca

COUNTS = "desc: x\ncmd: y\nevents: Ir Bc Bcm Bi Bim \nfl=a\nfn=b\n1 2 3 4 5 6\nsummary: 1000 200 30 4 5 \n"

LISTING = """
0000000000023320 <unjank_lesser_branchy>:
   23320:\tendbr64
   23324:\tlea    0x8(%rsi,%rsi,2),%rcx        # 5 <x>
   23339:\tjl     23350 <unjank_lesser_branchy+0x30>
   2333b:\tjmp    23353 <unjank_lesser_branchy+0x33>
   2334a:\tnopw   0x0(%rax,%rax,1)
   23350:\tmov    %rdx,%rax
   23353:\tret

Disassembly of section .fini:
"""


def test_counts_are_found_by_their_names() -> None:
    """Totals are matched with the events' names, in whatever order they stand."""
    assert cachegrind.read_counts(COUNTS) == cachegrind.Branches(1000, 200, 30)
    swapped = "events: Bcm Ir Bc\nsummary: 30 1000 200\n"
    assert cachegrind.read_counts(swapped) == cachegrind.Branches(1000, 200, 30)


@pytest.mark.parametrize(
    ("text", "cause"), [("events: Ir\n", "no totals"), ("events: Ir\nsummary: 1\n", "Bc, Bcm")]
)
def test_counts_that_are_not_there_are_an_error(text: str, cause: str) -> None:
    """A file cut short or of another mode gives no zeros."""
    with pytest.raises(UnjankError, match=cause):
        cachegrind.read_counts(text)


def test_instructions_are_those_that_compute() -> None:
    """Padding, notes and the return are left out; jumps lead to a label that the assembler accepts."""
    assert mca.read_instructions(LISTING) == [
        "lea    0x8(%rsi,%rsi,2),%rcx",
        "jl .Lend",
        "jmp .Lend",
        "mov    %rdx,%rax",
    ]


def test_cycles_are_read_from_the_summary() -> None:
    """`Total Cycles`, and an error where llvm-mca printed none."""
    assert mca.read_cycles("Iterations:        100\nTotal Cycles:      609\n") == 609
    with pytest.raises(UnjankError, match="no cycles"):
        mca.read_cycles("")


@pytest.mark.parametrize(("part", "tool"), [(cachegrind, "valgrind"), (mca, "llvm-mca")])
def test_missing_tools_are_told(part: ModuleType, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tool the figure is absent, with the package that has it."""
    monkeypatch.setenv("PATH", "/nonexistent")
    report = Report()
    part.measure(report, Scale.quick(), lambda _: None)
    (absent,) = report.absent
    assert absent["reason"].startswith(f"{tool} is not installed; the package")
    assert not report.ratios
