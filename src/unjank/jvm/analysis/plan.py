"""Updater by updater: may its field go, or does it stay beside calls that no longer use it?

A field may go if it is private and every instruction that reads it, in the whole archive, serves calls that
are made direct. Accessors may stay: nobody calls them any more, and if somebody outside the archive does,
they make an updater anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as default

from unjank.jvm.analysis.decide import SiteDecision
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.analysis.resolve import UpdaterKey
from unjank.jvm.analysis.room import Rooms
from unjank.jvm.analysis.scope import Scope
from unjank.jvm.analysis.summary import MethodKey, Producer
from unjank.jvm.analysis.updaters import UpdaterField
from unjank.jvm.classfile import Access
from unjank.jvm.model import Outcome

Place = tuple[int, MethodKey, int]
"""A call: class file, method, place in its code."""


@dataclass(slots=True)
class UpdaterPlan:
    """One updater.

    `producers` are the instructions that read it, with their class file; `accessors` the methods of its class
    that read the field just to return it.
    """

    key: UpdaterKey
    owner: str
    field: UpdaterField
    decisions: list[SiteDecision] = default(default_factory=list)
    producers: list[tuple[int, Producer]] = default(default_factory=list)
    accessors: list[MethodKey] = default(default_factory=list)
    outcome: Outcome = Outcome.KEPT

    @property
    def direct(self) -> list[SiteDecision]:
        """The calls that are made direct."""
        return [decision for decision in self.decisions if decision.direct]


def make_plan(scope: Scope, decisions: Iterable[SiteDecision]) -> dict[UpdaterKey, UpdaterPlan]:
    """What becomes of each updater of an archive, given what becomes of the calls."""
    plans = {
        key: UpdaterPlan(key, scope.resolver.name_of(key), found)
        for key, found in scope.resolver.fields.items()
    }
    direct: set[Place] = set()
    for decision in decisions:
        if decision.updater is not None:
            plans[decision.updater].decisions.append(decision)
        if decision.direct:
            direct.add((decision.unit, decision.site.method, decision.site.pc))
    blocked = _collect_readers(scope, plans)
    rooms = Rooms(scope.summaries)
    for plan in plans.values():
        if plan.direct:
            free = plan.key not in blocked and _may_go(scope, plan, direct)
            fits = free and rooms.take_for_helpers(plan.key.unit, len(plan.direct))
            plan.outcome = Outcome.REMOVED if fits else Outcome.COMPANION
    return plans


def _may_go(scope: Scope, plan: UpdaterPlan, direct: set[Place]) -> bool:
    if not plan.field.access & Access.PRIVATE or scope.may_name(plan.field.name):
        return False
    return len(plan.direct) == len(plan.decisions) and all(
        not producer.escapes and all((unit, producer.method, use) in direct for use in producer.uses)
        for unit, producer in plan.producers
    )


def _collect_readers(scope: Scope, plans: Mapping[UpdaterKey, UpdaterPlan]) -> set[UpdaterKey]:
    """Notes who reads each updater; returns those that are read in a way that nobody can follow."""
    blocked: set[UpdaterKey] = set()
    for unit, summary in scope.summaries.items():
        for producer in summary.producers:
            key = scope.resolver.resolve(unit, producer.source)
            if not isinstance(key, Reason):
                plans[key].producers.append((unit, producer))
            else:
                blocked |= _same_named(scope, producer.source.owner, producer.source.name)
        for target in summary.handles:
            blocked |= _same_named(scope, target.owner, target.name)
        for accessor, source in summary.accessors.items():
            key = scope.resolver.resolve(unit, source)
            if not isinstance(key, Reason) and not source.descriptor.startswith("("):
                _add_accessor(plans[key], unit, accessor, blocked)
            elif isinstance(key, Reason):
                blocked |= _same_named(scope, source.owner, source.name)
    return blocked


def _add_accessor(plan: UpdaterPlan, unit: int, accessor: MethodKey, blocked: set[UpdaterKey]) -> None:
    """An accessor in the updater's own class can make it anew; one elsewhere cannot, the field must stay."""
    if unit == plan.key.unit:
        plan.accessors.append(accessor)
    else:
        blocked.add(plan.key)


def _same_named(scope: Scope, owner: str, name: str) -> set[UpdaterKey]:
    """All that an unresolved name may mean: a field of that class, or one that it inherits."""
    if owner not in scope.units_by_name:
        return set()
    return {key for key in scope.resolver.fields if key.field == name}
