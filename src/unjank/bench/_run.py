"""How measurements are repeated: in turn, after a warm-up, and on threads that start together."""

import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unjank.bench._report import Measure

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


def interleaved(sides: Mapping[str, Measure], repeats: int) -> dict[str, list[float]]:
    """Measures all sides once per round, so that noise hits each alike.

    One round warms up and is not counted. Every other round goes backwards, so that no side always has the
    same one before it. Garbage of the side before is collected first; the collector stays on as it was.

    Returns:
        Of each side its values, one per round.
    """
    values: dict[str, list[float]] = {name: [] for name in sides}
    for measure in sides.values():
        measure()
    for turn in range(repeats):
        for name in list(sides)[:: -1 if turn % 2 else 1]:
            gc.collect()
            values[name].append(sides[name]())
    return values


def time_threads(bodies: Sequence[Callable[[], object]]) -> tuple[int, int]:
    """Runs each body on a thread of its own, all at once.

    Returns:
        When the first began and the last ended, ns of `time.perf_counter_ns()`.

    Raises:
        BaseException: What a body raised.
    """
    spans: list[tuple[int, int]] = []
    raised: list[BaseException] = []
    together = threading.Barrier(len(bodies))

    def run(body: Callable[[], object]) -> None:
        together.wait()
        begin = time.perf_counter_ns()
        try:
            body()
        except BaseException as error:
            raised.append(error)
        spans.append((begin, time.perf_counter_ns()))

    threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return min(begin for begin, _ in spans), max(end for _, end in spans)
