"""Native measurements of queues, heaps, context switches, caches, atomics and priorities, without the GIL.

All raise ValueError for an unknown name or a count of zero, and OSError where the system refuses.
"""

from typing import Literal

_Queue = Literal["deliqueue", "legacy"]
_Pattern = Literal["random", "increasing", "equal"]
_Comparator = Literal["branchless", "branchy"]
_Medium = Literal["pipe", "eventfd", "futex"]
_Parties = Literal["threads", "processes"]
_Operation = Literal["lock", "cas_loop", "fetch_add"]
_Layout = Literal["shared", "packed", "padded"]
_Instructions = Literal["native", "llsc", "lse"]

def insert_ns(queue: _Queue, *, producers: int, backlog: int, per_producer: int, pattern: _Pattern) -> float:
    """Nanoseconds of wall time per post, from several threads at once into a queue that holds `backlog`."""

def dispatch_ns(queue: _Queue, *, backlog: int, messages: int) -> float:
    """Nanoseconds to take the next message, with `backlog` pending throughout."""

def plain_dispatch_ns(*, backlog: int, messages: int) -> float:
    """The same for a C++ std::priority_queue of messages, from which nothing can be removed."""

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

def comparisons_per_hold(*, size: int, holds: int) -> float:
    """Comparisons the heap makes to pop its head and push it again for later."""

def lesser(comparator: _Comparator, first: tuple[int, int], second: tuple[int, int]) -> int:
    """Which of two (due time, sequence number) comes first, 0 or 1, by the function that is disassembled."""

class Side:
    """One thread of a measurement while it was timed; None is what the kernel does not tell."""

    @property
    def voluntary(self) -> int:
        """Switches because it blocked."""
    @property
    def involuntary(self) -> int:
        """Switches because it was preempted."""
    @property
    def migrations(self) -> int | None:
        """Moves to another CPU, by the kernel's count."""
    @property
    def cpu_changes(self) -> int:
        """Moves to another CPU that were seen by asking each round; at most as many as there were."""
    @property
    def cpu_ns(self) -> int:
        """CPU time."""
    @property
    def run_wait_ns(self) -> int | None:
        """Time it was ready, but kept off the CPU."""
    @property
    def cpus(self) -> list[int]:
        """CPUs it was seen on, ascending."""

class PingPong:
    """What one run of a ping-pong measured."""

    @property
    def wall_ns(self) -> int:
        """Of all timed rounds."""
    @property
    def round_ns(self) -> list[int]:
        """Of each timed round: a token there and back."""
    @property
    def rounds_apart(self) -> int:
        """Rounds at whose end the two were on different CPUs."""
    @property
    def caller(self) -> Side:
        """The side that begins each round and times it."""
    @property
    def echo(self) -> Side:
        """The side that answers."""

def ping_pong(
    medium: _Medium,
    parties: _Parties,
    *,
    rounds: int,
    warm_up: int = 200,
    first_cpu: int = -1,
    second_cpu: int = -1,
) -> PingPong:
    """Two threads or processes pass a token to and fro, asleep until it comes; -1 pins a side to no CPU."""

class CorePair:
    """What two CPUs took to hand one cache line to and fro."""

    @property
    def one_way_ns(self) -> list[float]:
        """Of each sample: half a round trip. Fewer than asked for if patience ended."""
    @property
    def exchanges(self) -> int:
        """Successful compare-and-swaps, as the counter in the line shows them."""
    @property
    def exchanges_wanted(self) -> int:
        """As many as there had to be."""
    @property
    def node(self) -> int | None:
        """Memory node of the line's page; None where the kernel does not tell."""
    @property
    def first(self) -> Side:
        """The thread that begins each round trip and times them."""
    @property
    def second(self) -> Side:
        """The thread that answers."""

def core_pair(
    first_cpu: int, second_cpu: int, *, home_cpu: int, round_trips: int, samples: int, patience: float
) -> CorePair:
    """Two threads raise a counter in turn, on a page that `home_cpu` touched first. Patience in seconds."""

class Tally:
    """What one thread counted."""

    @property
    def wall_ns(self) -> int:
        """From its begin to its end."""
    @property
    def operations(self) -> int:
        """How often it added 1."""
    @property
    def retries(self) -> int:
        """Compare-and-swaps in which another thread was faster."""
    @property
    def side(self) -> Side:
        """The thread, as the kernel counted it."""

class Atomics:
    """What several threads counted at once."""

    @property
    def counted(self) -> int:
        """What all counters add up to: as many as there were operations."""
    @property
    def threads(self) -> list[Tally]:
        """One for each thread."""

def count_at_once(
    operation: _Operation, *, layout: _Layout, instructions: _Instructions, cpus: list[int], seconds: float
) -> Atomics:
    """A thread for each of `cpus` counts for `seconds`; -1 pins it to no CPU.

    Raises ValueError also if this machine lacks the instructions.
    """

def available_instructions() -> list[_Instructions]:
    """Those this build has and this CPU executes: `native`, or on ARM64 `llsc` and where it can `lse`."""

class BusyReport:
    """What one busy thread did."""

    @property
    def nice(self) -> int:
        """Its nice value, as the kernel told it at the end."""
    @property
    def side(self) -> Side:
        """The thread, as the kernel counted it."""

class BusyCrew:
    """Threads that only use CPU time, each with a nice value and a CPU; they end with the object."""

    def __init__(self, threads: list[tuple[int, int]]) -> None:
        """Makes them: (nice value, CPU or -1) each. They are bound, and wait."""
    def start(self) -> None:
        """Lets them work."""
    def stop(self) -> list[BusyReport]:
        """Ends them; what each did, in their order."""
    @property
    def wall_ns(self) -> int:
        """Between `start()` and `stop()`."""

def step_ns(cpu: int) -> float:
    """Nanoseconds of a step of a fixed chain of instructions on a CPU kept busy: its clock alone decides."""
