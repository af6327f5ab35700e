"""What a looper's thread did while a message waited or ran: whether it worked, or had no CPU to work on."""

from collections import Counter
from dataclasses import dataclass

from unjank.findings._evidence import Evidence
from unjank.findings._model import Json
from unjank.findings._threads import Thread
from unjank.findings._units import format_duration

_MOSTLY = 0.5  # of the time


@dataclass(frozen=True)
class LooperTime:
    """A thread's time in one span.

    Attributes:
        dur: Length of the span, ns.
        by_state: ns by state as in Perfetto's `thread_state`, most first; empty without scheduling.
        off_cpu: The part in which it could run but had no CPU, ns.
    """

    dur: int
    by_state: dict[str, int]
    off_cpu: int

    @property
    def is_known(self) -> bool:
        """True if the trace has what the thread did."""
        return bool(self.by_state)

    @property
    def lacked_cpu(self) -> bool:
        """True if for most of the time it could run but had no CPU."""
        return self.off_cpu > _MOSTLY * self.dur

    def detail(self) -> Json:
        """For `detail["looper_states"]`; null where nothing was recorded."""
        return self.by_state or None


def looper_time(evidence: Evidence, thread: Thread, start: int, dur: int) -> LooperTime:
    """Sums up what a thread did from `start` on for `dur`, both ns."""
    by_state = Counter[str]()
    off_cpu = 0
    if evidence.scheduling.is_recorded:
        for span in evidence.scheduling.states(thread.utids, start, start + dur):
            by_state[span.state] += span.dur
            off_cpu += span.dur if span.is_runnable else 0
    return LooperTime(dur, dict(by_state.most_common()), off_cpu)


def cpu_advice(thread: Thread, time: LooperTime) -> str:
    """What to change where a looper's thread lacked a CPU."""
    return (
        f"{thread.name} could run but had no CPU for {format_duration(time.off_cpu)} of "
        f"{format_duration(time.dur)}: run fewer busy threads than there are CPUs, give them other CPUs or "
        f"lower priorities, or give {thread.name} a higher one."
    )
