"""Cycles of one comparison, as llvm-mca estimates them from the instructions of the installed module."""

import re
import shutil
import subprocess

from unjank import UnjankError, _bench
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.heap.comparators import COMPARATORS, Comparator

_NAME = "cycles_branchless_vs_branchy"
_ITERATIONS = 100
_TOOLS = {
    "llvm-mca": "llvm-mca is not installed; the package llvm has it",
    "objdump": "objdump is not installed; the package binutils has it",
}
_CONDITIONAL_JUMP = re.compile(r"^j(?!mp)[a-z]+$")


def measure(report: Report, scale: Scale, progress: Progress) -> None:  # noqa: ARG001  nothing to scale
    """`cycles_branchless_vs_branchy`; absent without llvm-mca and objdump.

    llvm-mca takes no jump and mispredicts none: for the branchy comparator it estimates every instruction on
    either way. What wrong guesses cost comes on top; how many there are is cachegrind's to say.
    """
    for tool, reason in _TOOLS.items():
        if shutil.which(tool) is None:
            report.leave_out(_NAME, reason)
            return
    progress("estimated cycles")
    try:
        cycles = {comparator: _estimate(report, comparator) for comparator in COMPARATORS}
    except UnjankError as error:
        report.leave_out(_NAME, str(error))
        return
    report.compare(_NAME, [cycles["branchless"]], [cycles["branchy"]], of="cycles")


def _estimate(report: Report, comparator: Comparator) -> float:
    listing = _run(
        "objdump", f"--disassemble=unjank_lesser_{comparator}", "--no-show-raw-insn", _bench.__file__
    )
    instructions = read_instructions(listing)
    if not instructions:
        raise UnjankError(f"{_bench.__file__} has no function unjank_lesser_{comparator}; reinstall unjank")
    jumps = sum(bool(_CONDITIONAL_JUMP.match(line.split()[0])) for line in instructions)
    told = _run("llvm-mca", f"-iterations={_ITERATIONS}", stdin="\n".join(instructions) + "\n")
    cycles = read_cycles(told) / _ITERATIONS
    facts = {"comparator": comparator, "instructions": len(instructions), "conditional_jumps": jumps}
    report.add("estimated_cycles", "1/comparison", [cycles], **facts, tool="llvm-mca")
    return cycles


def read_instructions(listing: str) -> list[str]:
    """The instructions of objdump's listing, in the assembler's syntax; jumps go to a label at the end.

    Without padding, the final return (llvm-mca does not follow it) and objdump's notes.
    """
    lines = re.findall(r"^\s+[0-9a-f]+:\t(.+)$", listing, re.MULTILINE)
    bare = [re.sub(r"\s*(#.*|<[^>]*>)", "", line).strip() for line in lines]
    kept = [line for line in bare if line and line.split()[0] not in _NOT_EXECUTED]
    return [re.sub(r"^(j[a-z]+)\s+\S+$", r"\1 .Lend", line) for line in kept]


_NOT_EXECUTED = frozenset({"nop", "nopw", "nopl", "ret", "retq", "endbr64", "xchg", "cs", "data16"})


def read_cycles(told: str) -> int:
    """`Total Cycles` of llvm-mca's summary.

    Raises:
        UnjankError: There is none.
    """
    found = re.search(r"^Total Cycles:\s+(\d+)", told, re.MULTILINE)
    if found is None:
        raise UnjankError("llvm-mca gave no cycles; see whether it knows this CPU: llvm-mca --version")
    return int(found[1])


def _run(tool: str, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run([tool, *arguments], input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise UnjankError(f"{tool} failed: {lines[0] if lines else f'exit {done.returncode}'}")
    return done.stdout
