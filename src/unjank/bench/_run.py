"""How measurements are repeated: in turn, after a warm-up, and on threads that start together."""

import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Measured = TypeVar("Measured")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Attributes:
        repeats: Repetitions of each pair.
        divisor: By what all counts are divided; above 1 the figures only show that the benchmark works.
    """

    repeats: int = 7
    divisor: int = 1

    @classmethod
    def quick(cls) -> "Scale":
        """Two repetitions of a hundredth."""
        return cls(repeats=2, divisor=100)

    def count(self, full: int) -> int:
        """`full`, scaled down, at least 1."""
        return max(1, full // self.divisor)


def interleaved(
    sides: Mapping[str, Callable[[], Measured]], repeats: int, *, collect: bool = True
) -> dict[str, list[Measured]]:
    """Measures all sides once per round, so that noise hits each alike.

    One round warms up and is not counted. Every other round goes backwards, so that no side always has the
    same one before it. The garbage collector stays on as it was.

    Args:
        sides: What is measured.
        repeats: Rounds that count.
        collect: Whether garbage of the side before is collected first; native sides leave none.

    Returns:
        Of each side its values, one per round.
    """
    values: dict[str, list[Measured]] = {name: [] for name in sides}
    for measure in sides.values():
        measure()
    for turn in range(repeats):
        for name in list(sides)[:: -1 if turn % 2 else 1]:
            if collect:
                gc.collect()
            values[name].append(sides[name]())
    return values


def time_threads(
    bodies: Sequence[Callable[[], object]], *, between: Callable[[], object] | None = None
) -> "Span":
    """Runs each body on a thread of its own, all at once.

    Args:
        bodies: What the threads run.
        between: If given, the bodies run twice on the same threads and the second time counts: the first
            fills what a thread that lives on has filled (stocks of nodes, caches); then this tidies up.

    Returns:
        From the first that began to the last that ended.

    Raises:
        BaseException: What a body or `between` raised.
    """
    crew = _Crew(bodies)
    try:
        if between is not None:
            crew.run_once()
            between()
        return crew.run_once()
    finally:
        crew.dismiss()


@dataclass(frozen=True)
class Span:
    """When threads worked, ns.

    Attributes:
        begin_ns: The first began, by `time.perf_counter_ns()`.
        end_ns: The last ended.
        cpu_ns: CPU time of all of them; time in which others had the CPU, or they waited, is not in it.
    """

    begin_ns: int
    end_ns: int
    cpu_ns: int

    @property
    def wall_ns(self) -> int:
        """From begin to end."""
        return self.end_ns - self.begin_ns


class _Crew:
    """Threads that run their bodies each time they are told to."""

    def __init__(self, bodies: Sequence[Callable[[], object]]) -> None:
        self._begin = threading.Barrier(len(bodies) + 1)
        self._end = threading.Barrier(len(bodies) + 1)
        self._spans: list[tuple[int, int, int]] = []
        self._raised: list[BaseException] = []
        self._over = False
        self._threads = [threading.Thread(target=self._work, args=(body,)) for body in bodies]
        for thread in self._threads:
            thread.start()

    def run_once(self) -> "Span":
        self._spans.clear()
        self._begin.wait()
        self._end.wait()
        if self._raised:
            raise self._raised[0]
        begins, ends, cpu = zip(*self._spans, strict=True)
        return Span(min(begins), max(ends), sum(cpu))

    def dismiss(self) -> None:
        self._over = True
        self._begin.wait()
        for thread in self._threads:
            thread.join()

    def _work(self, body: Callable[[], object]) -> None:
        while True:
            self._begin.wait()
            if self._over:
                return
            begin, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                body()
            except BaseException as error:
                self._raised.append(error)
            self._spans.append((begin, time.perf_counter_ns(), time.thread_time_ns() - cpu))
            self._end.wait()
