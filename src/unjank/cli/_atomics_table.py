"""Results of `unjank atomics` as tables: decisions with reasons, updaters, and on request every call."""

from collections import Counter
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from unjank.jvm import (
    Decision,
    DexFile,
    OptimizeResult,
    Outcome,
    Reason,
    ScanResult,
    SiteRecord,
    UpdaterRecord,
)

_OUTCOMES = {
    Outcome.REMOVED: "gone, all calls direct",
    Outcome.COMPANION: "kept beside direct calls",
    Outcome.KEPT: "kept",
}
_WITHOUT_REFUSAL = {
    Outcome.REMOVED: "Its field has the offset or VarHandle.",
    Outcome.COMPANION: "It is not private, or is used in other ways than by direct calls.",
    Outcome.KEPT: "No call of it is direct.",
}
_MOST_SKIPPED = 10


def print_result(result: ScanResult | OptimizeResult, *, list_calls: bool) -> None:
    """Prints one archive's result to standard output, what was skipped to standard error."""
    console = Console(highlight=False)
    direct = sum(site.decision is Decision.DIRECT for site in result.sites)
    console.print(f"[bold]{escape(result.source)}[/]", soft_wrap=True)
    console.print(_headline(result, direct), soft_wrap=True)
    if result.sites:
        console.print(_reasons(result.sites))
    if result.updaters:
        console.print(_updaters(result.updaters))
    if list_calls:
        for site in result.sites:
            console.print(_call(site), soft_wrap=True)
    _print_skipped(result)


def _headline(result: ScanResult | OptimizeResult, direct: int) -> str:
    total = len(result.sites)
    if isinstance(result, ScanResult) and result.dex:
        makers = sorted({_maker(dex) for dex in result.dex})
        return f"{total - direct} updater calls in dex code are reflective; {', '.join(makers)}"
    if not total:
        copied = "" if isinstance(result, ScanResult) else f"; copied to {escape(result.output)}"
        return f"no calls of Atomic*FieldUpdater{copied}"
    share = f"{direct} of {total} updater calls ({direct / total:.0%})"
    if isinstance(result, ScanResult):
        return f"{share} could be made direct"
    changed = len(result.classes_changed)
    classes = f"{changed} {'class' if changed == 1 else 'classes'} changed, {len(result.classes_added)} added"
    return f"{share} are direct through {result.target}; {classes}; written to {escape(result.output)}"


def _maker(dex: DexFile) -> str:
    if dex.tool is None:
        return "it does not say who made it"
    mode = f" ({dex.mode})" if dex.mode else ""
    return f"made by {dex.tool} {dex.version or 'of an unknown version'}{mode}"


def _reasons(sites: Sequence[SiteRecord]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("calls", justify="right")
    for column in ("decision", "reason"):  # a reason is to be looked up: it is not folded
        table.add_column(column, no_wrap=True)
    table.add_column("meaning", overflow="fold")
    counts = Counter((site.decision, site.reason) for site in sites)
    for (decision, reason), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        style = "green" if decision is Decision.DIRECT else "yellow"
        table.add_row(str(count), f"[{style}]{decision}[/]", reason, Reason(reason).explanation)
    return table


def _updaters(updaters: Sequence[UpdaterRecord]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("updaters", justify="right")
    for column in ("outcome", "reason"):
        table.add_column(column, no_wrap=True)
    table.add_column("meaning", overflow="fold")
    counts = Counter((updater.outcome, updater.refusal or "") for updater in updaters)
    for (outcome, refusal), count in sorted(counts.items()):
        meaning = Reason(refusal).explanation if refusal else _WITHOUT_REFUSAL[outcome]
        table.add_row(str(count), _OUTCOMES[outcome], refusal, meaning)
    return table


def _call(site: SiteRecord) -> str:
    place = f"{site.class_name}.{site.method} at {site.offset}"
    what = f"{site.updater or '?'} {site.operation}"
    return escape(f"{site.decision:6} {place}: {what}: {site.reason}")


def _print_skipped(result: ScanResult | OptimizeResult) -> None:
    for skipped in result.skipped[:_MOST_SKIPPED]:
        typer.echo(f"skipped: {skipped.entry} ({skipped.what}): {skipped.reason}", err=True)
    more = len(result.skipped) - _MOST_SKIPPED
    if more > 0:
        typer.echo(f"skipped: {more} more; --json lists all", err=True)
