"""Decisions and plans as the records that users see."""

from collections.abc import Iterable

from unjank.jvm.analysis.decide import SiteDecision
from unjank.jvm.analysis.operations import Role
from unjank.jvm.analysis.plan import UpdaterPlan
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.analysis.scope import Scope
from unjank.jvm.bytecode.descriptors import java_type
from unjank.jvm.model import Decision, SiteRecord, Skipped, UpdaterRecord

_ROLES = {Reason.HOLDER_NOT_PROVEN: Role.HOLDER, Reason.VALUE_NOT_PROVEN: Role.VALUE}


def site_records(scope: Scope, decisions: Iterable[SiteDecision], prefix: str) -> list[SiteRecord]:
    """One record per call; `prefix` is the path of the archive within an outer one."""
    return [_site_record(scope, decision, prefix) for decision in decisions]


def updater_records(scope: Scope, plans: Iterable[UpdaterPlan], prefix: str) -> list[UpdaterRecord]:
    """One record per updater."""
    return [
        UpdaterRecord(
            entry=prefix + scope.path(plan.key.unit),
            name=_dotted(plan.owner, plan.key.field),
            kind=plan.field.kind.name.lower(),
            target=plan.field.target,
            refusal=plan.field.refusal.value if plan.field.refusal else None,
            sites=len(plan.decisions),
            direct=len(plan.direct),
            outcome=plan.outcome,
        )
        for plan in plans
    ]


def skipped_records(scope: Scope, prefix: str) -> list[Skipped]:
    """What could not be looked into: classes, and methods of classes."""
    found = [Skipped(prefix + scope.path(unit), "class", reason) for unit, reason in scope.skipped.items()]
    for unit, summary in scope.summaries.items():
        for method, reason in summary.failures.items():
            found.append(Skipped(prefix + scope.path(unit), f"method {''.join(method)}", reason))
    return found


def _site_record(scope: Scope, decision: SiteDecision, prefix: str) -> SiteRecord:
    site = decision.site
    updater = decision.updater
    return SiteRecord(
        entry=prefix + scope.path(decision.unit),
        class_name=scope.summaries[decision.unit].name.replace("/", "."),
        method="".join(site.method),
        offset=site.pc,
        operation=site.operation.name,
        updater=None if updater is None else _dotted(scope.resolver.name_of(updater), updater.field),
        decision=Decision.DIRECT if decision.direct else Decision.KEPT,
        reason=decision.reason.value,
        detail=_detail(scope, decision),
    )


def _detail(scope: Scope, decision: SiteDecision) -> str:
    """The reason in words, with the type that proves too little, or why the method was not followed."""
    reason, site = decision.reason, decision.site
    if reason in _ROLES:
        kind = site.types[site.operation.roles.index(_ROLES[reason])]
        return f"{reason.explanation} As far as is known it is {_words(kind)}."
    if reason is Reason.NOT_FOLLOWED:
        return f"{reason.explanation} {scope.summaries[decision.unit].failures[site.method]}"
    return reason.explanation


def _words(kind: str) -> str:
    return f"a {java_type(kind)}" if kind[0] in "L[" else "of no class that is known"


def _dotted(owner: str, field: str) -> str:
    return f"{owner.replace('/', '.')}.{field}"
