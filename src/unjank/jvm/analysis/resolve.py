"""From what code names to the updater that it means: fields, superclasses' fields, chains of accessors."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.analysis.summary import ClassSummary, MethodKey
from unjank.jvm.analysis.updaters import UpdaterField
from unjank.jvm.classfile import MemberRef

_MOST_ACCESSORS = 8
"""Longest chain of accessors that is followed; compilers make two."""


class UpdaterKey(NamedTuple):
    """One updater: the number of the class file that declares it, and the field's name."""

    unit: int
    field: str


class Resolver:
    """Resolves names as seen from one class file of the archive.

    A class that is there in several versions is only known to itself: which version another class would meet
    at run time depends on the JVM.
    """

    def __init__(
        self,
        summaries: Mapping[int, ClassSummary],
        units: Mapping[str, Sequence[int]],
        hierarchy: Hierarchy,
    ) -> None:
        """Takes class summaries by unit, and for each class name all units that have it."""
        self._hierarchy = hierarchy
        self._summaries = summaries
        self._units = units
        self._fields = {
            UpdaterKey(unit, field.name): field
            for unit, summary in summaries.items()
            for field in summary.updaters
        }

    @property
    def fields(self) -> Mapping[UpdaterKey, UpdaterField]:
        """All updater fields of the archive."""
        return self._fields

    def name_of(self, updater: UpdaterKey) -> str:
        """The class that declares an updater, internal name."""
        return self._summaries[updater.unit].name

    def resolve(self, unit: int, source: MemberRef) -> UpdaterKey | Reason:
        """The updater that a field or accessor gives, as the class file `unit` names it; or why none."""
        for _ in range(_MOST_ACCESSORS):
            if not source.descriptor.startswith("("):
                return self._field(unit, source)
            owner = self._unit_of(unit, source.owner)
            if isinstance(owner, Reason):
                return owner
            inner = self._summaries[owner].accessors.get(MethodKey(source.name, source.descriptor))
            if inner is None:
                return Reason.RECEIVER_UNKNOWN
            unit, source = owner, inner
        return Reason.RECEIVER_UNKNOWN

    def _field(self, unit: int, source: MemberRef) -> UpdaterKey | Reason:
        """A field of the named class, or the one field of that name among all that it inherits from."""
        owner = self._unit_of(unit, source.owner)
        if isinstance(owner, int) and UpdaterKey(owner, source.name) in self._fields:
            return UpdaterKey(owner, source.name)
        if owner is Reason.RECEIVER_AMBIGUOUS:
            return owner
        above = {self._unit_of(unit, name) for name in self._hierarchy.all_above(source.owner) or ()}
        found = {key for other in above if isinstance(other, int) and (key := UpdaterKey(other, source.name))}
        found &= self._fields.keys()
        unsure = Reason.RECEIVER_AMBIGUOUS in above or len(found) != 1
        return Reason.RECEIVER_ELSEWHERE if unsure else found.pop()

    def _unit_of(self, unit: int, name: str) -> int | Reason:
        if self._summaries[unit].name == name:
            return unit
        units = self._units.get(name, ())
        if len(units) > 1:
            return Reason.RECEIVER_AMBIGUOUS
        if not units or units[0] not in self._summaries:
            return Reason.RECEIVER_ELSEWHERE
        return units[0]
