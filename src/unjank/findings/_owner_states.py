"""What the owners of a lock did while others waited for it, by thread state and by the kernel's function."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from unjank.findings._contention import Contention
from unjank.findings._evidence import Evidence
from unjank.findings._model import Json

_MOST_LISTED = 20
_ON_DISK = "D"  # uninterruptible: nearly always for a disk or a page of memory


@dataclass(frozen=True)
class OwnerStates:
    """The owners' time during some waits; where two threads wait at once, it counts for each.

    Attributes:
        by_state: ns by state as in Perfetto's `thread_state`.
        by_function: Number of times and ns by the kernel's function in which they were blocked.
    """

    by_state: dict[str, int]
    by_function: dict[str, tuple[int, int]]

    @property
    def on_disk_share(self) -> float:
        """The share of the owners' time in uninterruptible sleep."""
        known = sum(self.by_state.values())
        return self.by_state.get(_ON_DISK, 0) / known if known else 0.0

    @property
    def main_function(self) -> str | None:
        """The kernel's function in which the owners were blocked longest."""
        return max(self.by_function, key=lambda name: self.by_function[name][1], default=None)

    def detail(self) -> dict[str, Json]:
        """The part of `detail` about the owners; null where nothing was recorded."""
        if not self.by_state:
            return {"owner_states": None, "owner_blocked_in": None}
        states = sorted(self.by_state.items(), key=lambda item: -item[1])
        functions = sorted(self.by_function.items(), key=lambda item: -item[1][1])
        return {
            "owner_states": dict(states),
            "owner_blocked_in": [
                {"function": name, "count": count, "total_ns": total}
                for name, (count, total) in functions[:_MOST_LISTED]
            ],
        }


def owner_states(evidence: Evidence, waits: Iterable[Contention]) -> OwnerStates:
    """Sums up what the owners did during the waits; empty where the trace does not tell."""
    by_state = Counter[str]()
    by_function: dict[str, list[int]] = defaultdict(list)
    if evidence.scheduling.is_recorded:
        for wait in waits:
            utids = wait.owner.utids if wait.owner else ()
            for span in evidence.scheduling.states(utids, wait.start, wait.end) if utids else ():
                by_state[span.state] += span.dur
                if span.function:
                    by_function[span.function].append(span.dur)
    return OwnerStates(
        dict(by_state), {name: (len(times), sum(times)) for name, times in by_function.items()}
    )
