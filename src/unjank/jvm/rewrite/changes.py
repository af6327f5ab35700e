"""From plans to what is done to each class file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from unjank.jvm.analysis.decide import SiteDecision
from unjank.jvm.analysis.plan import UpdaterPlan
from unjank.jvm.analysis.scope import Scope
from unjank.jvm.analysis.summary import MethodKey
from unjank.jvm.archive.layout import sibling
from unjank.jvm.classfile import Access, MemberRef
from unjank.jvm.model import Outcome, Target
from unjank.jvm.rewrite.cell import Cell
from unjank.jvm.rewrite.helpers import Helper

_COMPANION = "$UnjankAtomics"
_PACKAGE_PRIVATE = 0


@dataclass(slots=True)
class HelperSet:
    """Helpers of one class, and the access that each needs, by how it is called."""

    helpers: dict[MemberRef, Helper] = field(default_factory=dict)
    access: dict[MemberRef, int] = field(default_factory=dict)

    def require(self, helper: Helper, caller: str) -> MemberRef:
        """Notes that the class `caller` calls a helper."""
        member = helper.member
        self.helpers.setdefault(member, helper)
        wanted = _access_for(caller, member.owner)
        self.access[member] = max(self.access.get(member, wanted), wanted, key=_openness)
        return member

    @property
    def openness(self) -> int:
        """The widest access that any helper needs."""
        return max(self.access.values(), key=_openness, default=int(Access.PRIVATE))


@dataclass(slots=True)
class UnitChange:
    """What is done to one class file.

    Attributes:
        calls: Calls of updaters that become calls of helpers: method, place, helper.
        nulls: Instructions that no longer read an updater, but give null: method, place.
        removed: Updaters of this class that go; the field is reused.
        accessors: Methods of this class that returned such an updater, and now make it anew.
        helpers: Helpers that the class gets.
        keep_serial: Its default serialVersionUID has to be written down, as new methods would change it.
    """

    calls: list[tuple[MethodKey, int, MemberRef]] = field(default_factory=list)
    nulls: list[tuple[MethodKey, int]] = field(default_factory=list)
    removed: list[tuple[UpdaterPlan, Cell]] = field(default_factory=list)
    accessors: list[tuple[MethodKey, Cell]] = field(default_factory=list)
    helpers: HelperSet = field(default_factory=HelperSet)
    keep_serial: bool = False


@dataclass(slots=True)
class Companion:
    """A new class beside an owner whose updaters stay."""

    name: str
    path: str
    beside: int
    major: int
    minor: int
    cells: dict[str, Cell] = field(default_factory=dict)
    helpers: HelperSet = field(default_factory=HelperSet)


@dataclass(slots=True)
class Changes:
    """All that is done to an archive's classes; companions by the number of their owner's class file."""

    units: dict[int, UnitChange] = field(default_factory=dict)
    companions: dict[int, Companion] = field(default_factory=dict)

    def unit(self, number: int) -> UnitChange:
        """The changes of a class file."""
        return self.units.setdefault(number, UnitChange())


def make_changes(scope: Scope, plans: Iterable[UpdaterPlan], target: Target, *, checked: bool) -> Changes:
    """What is to be done so that all direct calls are direct."""
    changes = Changes()
    for plan in plans:
        if plan.outcome is Outcome.REMOVED:
            _remove(scope, plan, changes, target, checked=checked)
        elif plan.outcome is Outcome.COMPANION:
            _accompany(scope, plan, changes, target, checked=checked)
    for number, change in changes.units.items():
        if change.helpers.openness != Access.PRIVATE:
            change.keep_serial = not scope.hierarchy.serializable_for_sure_not(scope.summaries[number].name)
    return changes


def _remove(scope: Scope, plan: UpdaterPlan, changes: Changes, target: Target, *, checked: bool) -> None:
    cell = _cell(plan, plan.owner, target)
    owner = changes.unit(plan.key.unit)
    owner.removed.append((plan, cell))
    owner.accessors += [(accessor, cell) for accessor in plan.accessors]
    for unit, producer in plan.producers:
        changes.unit(unit).nulls.append((producer.method, producer.pc))
    _direct_calls(scope, plan, cell, owner.helpers, changes, checked=checked)


def _accompany(scope: Scope, plan: UpdaterPlan, changes: Changes, target: Target, *, checked: bool) -> None:
    unit = plan.key.unit
    companion = changes.companions.get(unit)
    if companion is None:
        companion = changes.companions[unit] = _companion(scope, plan)
    cell = _cell(plan, companion.name, target)
    companion.cells[plan.key.field] = cell
    _direct_calls(scope, plan, cell, companion.helpers, changes, checked=checked)


def _direct_calls(
    scope: Scope, plan: UpdaterPlan, cell: Cell, helpers: HelperSet, changes: Changes, *, checked: bool
) -> None:
    for decision in plan.direct:
        caller = scope.summaries[decision.unit].name
        member = helpers.require(_helper(cell, decision, checked=checked), caller)
        changes.unit(decision.unit).calls.append((decision.site.method, decision.site.pc, member))


def _helper(cell: Cell, decision: SiteDecision, *, checked: bool) -> Helper:
    narrow = cell.type != cell.kind.value_descriptor
    return Helper(
        cell,
        decision.site.operation,
        checks_holder=checked,
        checks_value=narrow and (checked or decision.checks_value),
        expected_proven=decision.expected_proven and not checked,
    )


def _cell(plan: UpdaterPlan, host: str, target: Target) -> Cell:
    found = plan.field
    return Cell(plan.owner, found.name, found.kind, found.target, found.target_type, host, target)


def _companion(scope: Scope, plan: UpdaterPlan) -> Companion:
    summary = scope.summaries[plan.key.unit]
    name = _free_name(f"{plan.owner}{_COMPANION}", scope.units_by_name)
    path = sibling(scope.path(plan.key.unit), name.rpartition("/")[2])
    return Companion(name, path, plan.key.unit, summary.major, summary.minor)


def _free_name(wanted: str, taken: Mapping[str, object]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def _access_for(caller: str, host: str) -> int:
    if caller == host:
        return int(Access.PRIVATE)
    return _PACKAGE_PRIVATE if caller.rpartition("/")[0] == host.rpartition("/")[0] else int(Access.PUBLIC)


def _openness(access: int) -> int:
    return (int(Access.PRIVATE), _PACKAGE_PRIVATE, int(Access.PUBLIC)).index(access)
