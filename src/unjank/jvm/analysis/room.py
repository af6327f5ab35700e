"""How much constant pools have room for. The costs are upper bounds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from unjank.jvm.analysis.decide import SiteDecision
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.analysis.summary import ClassSummary
from unjank.jvm.classfile.pool import MAX_SLOTS

_FOR_CALL = 6
_FOR_HELPER = 40
_FOR_UPDATER = 60
_FOR_CLASS = 60


class Rooms:
    """Keeps account of the slots that each class has left, once all its calls are direct."""

    def __init__(self, summaries: Mapping[int, ClassSummary]) -> None:
        self._left = {
            unit: MAX_SLOTS - summary.pool_size - _FOR_CLASS - _FOR_CALL * len(summary.sites)
            for unit, summary in summaries.items()
        }

    def take_for_helpers(self, unit: int, calls: int) -> bool:
        """Takes what an updater's offset and the helpers for its calls need, if there is as much."""
        cost = _FOR_UPDATER + _FOR_HELPER * calls
        if cost > self._left[unit]:
            return False
        self._left[unit] -= cost
        return True


def within_pools(
    summaries: Mapping[int, ClassSummary], decisions: Iterable[SiteDecision]
) -> list[SiteDecision]:
    """Leaves the calls of classes that have no room even to name a helper."""
    decisions = list(decisions)
    calls = Counter(decision.unit for decision in decisions if decision.direct)
    full = {
        unit for unit, count in calls.items() if summaries[unit].pool_size + _FOR_CALL * count >= MAX_SLOTS
    }
    return [
        replace(decision, direct=False, reason=Reason.POOL_FULL)
        if decision.direct and decision.unit in full
        else decision
        for decision in decisions
    ]
