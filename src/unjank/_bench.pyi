"""Native measurements of queues, wake-ups and heaps. Each runs without the GIL and returns plain numbers.

All raise ValueError for an unknown name or a count of zero, and OSError where the system refuses.
"""

from typing import Literal

_Queue = Literal["deliqueue", "legacy"]
_Pattern = Literal["random", "increasing", "equal"]
_Comparator = Literal["branchless", "branchy"]

def insert_ns(queue: _Queue, *, producers: int, backlog: int, per_producer: int, pattern: _Pattern) -> float:
    """Nanoseconds of wall time per post, from several threads at once into a queue that holds `backlog`."""

def dispatch_ns(queue: _Queue, *, backlog: int, messages: int) -> float:
    """Nanoseconds to take the next message, with `backlog` pending throughout."""

def remove_ns(queue: _Queue, *, backlog: int, removals: int, by_handle: bool) -> float:
    """Nanoseconds to post, remove and reclaim one message beside a backlog; by its handle or by criteria."""

def looper_round_trips(queue: _Queue, *, rounds: int, first_cpu: int = -1, second_cpu: int = -1) -> list[int]:
    """Nanoseconds of each round trip between two sleeping loopers; -1 pins a thread to no CPU."""

def eventfd_round_trips(*, rounds: int, first_cpu: int = -1, second_cpu: int = -1) -> list[int]:
    """Nanoseconds of each round trip between two threads that block in read() of an eventfd."""

def heap_ns(
    comparator: _Comparator, *, size: int, few_due_times: bool, operations: int
) -> tuple[float, float]:
    """Nanoseconds per operation: (pop the head and push it again, for later; pop until nothing is left)."""

def lesser(comparator: _Comparator, first: tuple[int, int], second: tuple[int, int]) -> int:
    """Which of two (due time, sequence number) comes first, 0 or 1, by the function that is disassembled."""
