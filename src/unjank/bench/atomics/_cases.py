"""What is measured: an operation, how the counters lie, by which instructions, on how many threads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Operation = Literal["lock", "cas_loop", "fetch_add"]
Layout = Literal["shared", "packed", "padded"]
Instructions = Literal["native", "llsc", "lse"]

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True)
class Case:
    """One thing that is measured.

    Attributes:
        operation: How 1 is added.
        layout: `shared`: one counter for all threads; `packed`: one each, side by side in memory; `padded`:
            one each, on cache lines of its own.
        instructions: `native`, or on ARM64 `llsc` and `lse`. A lock is the C library's.
        cpus: One for each thread.
    """

    operation: Operation
    layout: Layout
    instructions: Instructions
    cpus: tuple[int, ...]

    def __str__(self) -> str:
        kind = "" if self.instructions == "native" else f" {self.instructions}"
        return f"{self.operation}{kind} {self.layout} {len(self.cpus)}"


def thread_counts(most: int) -> list[int]:
    """1, 2, 4, … and `most` itself."""
    powers = [2**n for n in range(most.bit_length())]
    return sorted({count for count in powers if count < most} | {most})


def cases(cpus: Sequence[int], most: int, instructions: Sequence[Instructions]) -> list[Case]:
    """All of them; with more threads than CPUs, CPUs take several."""
    counts = [tuple(cpus[n % len(cpus)] for n in range(count)) for count in thread_counts(most)]
    return [
        Case(operation, layout, how, places)
        for places in counts
        for layout in LAYOUTS
        for operation in OPERATIONS
        for how in (instructions if operation != "lock" else instructions[-1:])
    ]
