"""Call by call: may it be made direct, and if not, why not."""

from dataclasses import dataclass

from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.analysis.operations import Kind, Role
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.analysis.resolve import Resolver, UpdaterKey
from unjank.jvm.analysis.summary import ClassSummary, MethodKey, Producer, Site
from unjank.jvm.bytecode.opcodes import OPCODES
from unjank.jvm.bytecode.types import ELSEWHERE, OBJECT, class_of

_STORING = frozenset((Role.VALUE, Role.FUNCTION))
_GETFIELD = OPCODES["getfield"]


@dataclass(frozen=True, slots=True)
class SiteDecision:
    """What becomes of one call.

    `updater` is the one it is proven to be of, also where the call stays. `checks_value` says that the
    value's type is not proven by the verifier, so the helper checks it; `expected_proven` that the compared
    value has the field's type.
    """

    unit: int
    site: Site
    updater: UpdaterKey | None
    direct: bool
    reason: Reason
    checks_value: bool = False
    expected_proven: bool = False


class Decider:
    """Decides calls of one archive."""

    def __init__(self, resolver: Resolver, hierarchy: Hierarchy) -> None:
        self._resolver = resolver
        self._hierarchy = hierarchy

    def decide(self, unit: int, summary: ClassSummary) -> list[SiteDecision]:
        """All calls of one class file."""
        producers = {(producer.method, producer.pc): producer for producer in summary.producers}
        return [self._decide(unit, summary, site, producers) for site in summary.sites]

    def _decide(
        self, unit: int, summary: ClassSummary, site: Site, producers: dict[tuple[MethodKey, int], Producer]
    ) -> SiteDecision:
        if site.origin is None:
            followed = site.method not in summary.failures
            reason = Reason.NEVER_REACHED if followed else Reason.NOT_FOLLOWED
            return SiteDecision(unit, site, None, direct=False, reason=reason)
        updater = self._updater(unit, site, producers)
        if isinstance(updater, Reason):
            return SiteDecision(unit, site, None, direct=False, reason=updater)
        field = self._resolver.fields[updater]
        if field.refusal is not None:
            return SiteDecision(unit, site, updater, direct=False, reason=field.refusal)
        return self._check_types(unit, summary, site, updater)

    def _updater(
        self, unit: int, site: Site, producers: dict[tuple[MethodKey, int], Producer]
    ) -> UpdaterKey | Reason:
        """The one updater that the receiver is, whichever way led here."""
        origin = site.origin or frozenset((ELSEWHERE,))
        found: set[UpdaterKey | Reason] = set()
        for pc in origin:
            producer = producers.get((site.method, pc))
            if producer is None:
                found.add(Reason.RECEIVER_UNKNOWN)
            elif producer.opcode == _GETFIELD:
                found.add(Reason.RECEIVER_NOT_STATIC)
            else:
                found.add(self._resolver.resolve(unit, producer.source))
        return found.pop() if len(found) == 1 else Reason.RECEIVER_MIXED

    def _check_types(self, unit: int, summary: ClassSummary, site: Site, updater: UpdaterKey) -> SiteDecision:
        field = self._resolver.fields[updater]
        types = dict(zip(site.operation.roles, site.types, strict=True))
        owner = self._resolver.name_of(updater)
        if not self._hierarchy.assignable(types[Role.HOLDER], owner, summary.name):
            return SiteDecision(unit, site, updater, direct=False, reason=Reason.HOLDER_NOT_PROVEN)
        if site.operation.kind is not Kind.REFERENCE or field.target_type == OBJECT:
            return SiteDecision(unit, site, updater, direct=True, reason=Reason.PROVEN, expected_proven=True)
        if not self._hierarchy.is_plain_class(field.target_type):
            stores = not _STORING.isdisjoint(types)
            reason = Reason.CHECKED_VALUE if stores else Reason.PROVEN
            return SiteDecision(unit, site, updater, direct=True, reason=reason, checks_value=True)
        target = class_of(field.target_type) or ""
        fits = {role: self._hierarchy.assignable(kind, target, summary.name) for role, kind in types.items()}
        if not fits.get(Role.VALUE, True):
            return SiteDecision(unit, site, updater, direct=False, reason=Reason.VALUE_NOT_PROVEN)
        expected = fits.get(Role.EXPECTED, True)
        return SiteDecision(unit, site, updater, direct=True, reason=Reason.PROVEN, expected_proven=expected)
