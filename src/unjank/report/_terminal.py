"""The report on a terminal: the worst stall in one sentence, a table per kind, advice, notes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from unjank.findings import Finding, FindingSet, Json, Severity, format_duration
from unjank.report._about import best_explained, circle
from unjank.report._words import as_sentence, clean, short_site

DEFAULT_TOP = 10
_MOST_ADVICE = 3
_WIDTHS = (6, 8, 8, 8, 5)  # severity, worst, off CPU, total, times
_INDENT = 8
_STYLES = {Severity.HIGH: "bold red", Severity.MEDIUM: "yellow", Severity.LOW: "cyan"}


def render(console: Console, found: FindingSet, *, trace: str, top: int = DEFAULT_TOP) -> None:
    """Prints a report.

    Args:
        console: Where to; its width and colours are kept to.
        found: What to report.
        trace: Name of the trace, for the heading.
        top: Number of findings of each kind to list.
    """
    console.print(Text(clean(trace), style="bold"))
    console.print()
    console.print(_lead(found))
    for kind, findings in _by_kind(found.findings).items():
        _print_kind(console, kind, findings, top)
    print_list(console, "What to do", _advice(found.findings))
    print_list(console, "Notes", [as_sentence(note) for note in found.notes])


def lead_sentence(found: FindingSet) -> str:
    """The worst stall in one plain sentence, safe to print."""
    if not found.findings:
        return "No stall was found."
    worst = found.findings[0]
    return clean(_summary(best_explained(worst, found.findings)))


def _lead(found: FindingSet) -> Text:
    if not found.findings:
        return Text(lead_sentence(found), style="green")
    worst = found.findings[0].severity
    return Text.assemble((f"{worst.value.upper()}  ", _STYLES[worst]), (lead_sentence(found), "bold"))


def _summary(finding: Finding) -> str:
    summary = finding.detail.get("summary")
    if isinstance(summary, str):
        return summary
    return f"{finding.thread or 'A thread'}: {finding.kind}, {format_duration(finding.dur_ns)}."


def _by_kind(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    kinds: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        kinds[finding.kind].append(finding)
    return kinds


def _print_kind(console: Console, kind: str, findings: Sequence[Finding], top: int) -> None:
    shown = findings[:top]
    off_cpu = any(_worst_off_cpu(finding) is not None for finding in shown)
    console.print()
    console.print(Text(f"{kind} ({len(findings)})", style="bold"))
    headings = ("", "worst", "off CPU" if off_cpu else None, "total", "times", "who waited, for what")
    console.print(_line(headings, style="dim"))
    for finding in shown:
        _print_finding(console, finding, off_cpu=off_cpu)
    left = len(findings) - len(shown)
    if left:
        console.print(Text(f"… and {left} more: --top {len(findings)} or --json shows them", style="dim"))


def _print_finding(console: Console, finding: Finding, *, off_cpu: bool) -> None:
    """A line of figures, and below it what they are about, where long names have the whole width."""
    process = f" ({finding.process})" if finding.process else ""
    figures = (
        finding.severity.value,
        format_duration(finding.dur_ns),
        _duration(_worst_off_cpu(finding)) if off_cpu else None,
        _duration(finding.detail.get("total_ns")),
        str(finding.count),
        f"{finding.thread}{process}",
    )
    line = _line(figures)
    line.stylize(_STYLES[finding.severity], 0, _WIDTHS[0])
    console.print(line)
    for text in _particulars(finding):
        console.print(Padding(Text(clean(text), overflow="fold"), (0, 0, 0, _INDENT), expand=False))


def _line(cells: Sequence[str | None], style: str = "") -> Text:
    """Sets figures into columns of `_WIDTHS`, the first to the left; None is no column; the last is free."""
    first, *figures, last = cells
    columns = [f"{first:<{_WIDTHS[0]}}"]
    for width, figure in zip(_WIDTHS[1:], figures, strict=True):
        columns += [] if figure is None else [f"{figure:>{width}}"]
    return Text("  ".join([*columns, clean(last or "")]), style=style, overflow="fold")


def _duration(value: object) -> str:
    return format_duration(value) if isinstance(value, int) else "-"


def _particulars(finding: Finding) -> Iterator[str]:
    """Where the thread waited, for what, who held it, and who ran instead; of a circle each wait."""
    for link in circle(finding):
        place = f" in {short_site(str(link['where']))}" if link.get("where") else ""
        held = "" if link.get("lock_type") == "Thread" else f", held by {link.get('owner')}"
        yield f"{link.get('thread')}{place} for {link.get('lock')}{held}"
    if circle(finding):
        return
    if finding.where:
        yield f"in {short_site(finding.where)}"
    lock = finding.detail.get("lock")
    if isinstance(lock, str) and finding.detail.get("lock_known", True):
        yield f"for {lock}"
    if finding.owner:
        held = f" in {short_site(finding.owner_where)}" if finding.owner_where else ""
        yield f"{finding.detail.get('owner_role', 'held by')} {finding.owner}{held}"
    elif finding.owner_where:
        yield f"held in {short_site(finding.owner_where)}"
    if rivals := _rivals(finding):
        yield f"while its CPU ran {rivals}"


def _worst(finding: Finding) -> Mapping[str, Json]:
    """The figures of the worst occurrence, for kinds that tell them."""
    worst = finding.detail.get("worst")
    return worst if isinstance(worst, Mapping) else {}


def _worst_off_cpu(finding: Finding) -> Json:
    return _worst(finding).get("held_off_ns")


def _rivals(finding: Finding, at_most: int = 3) -> str:
    """The threads that ran instead of the owner in the worst occurrence, with their times."""
    entries = _worst(finding).get("ran_instead")
    if not isinstance(entries, Sequence):
        return ""
    named = [
        f"{entry['thread']} {_duration(entry['total_ns'])}" for entry in entries if isinstance(entry, Mapping)
    ]
    return ", ".join(named[:at_most] + (["…"] if len(named) > at_most else []))


def _advice(findings: Sequence[Finding]) -> list[str]:
    """The advice on the worst findings, each once."""
    return list(dict.fromkeys(finding.advice for finding in findings if finding.advice))[:_MOST_ADVICE]


def print_list(console: Console, heading: str, lines: Sequence[str]) -> None:
    """Prints lines under a heading; nothing if there are none."""
    if not lines:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    for line in lines:
        entry = Table.grid(padding=(0, 1))
        entry.add_row(Text("-"), Text(clean(line), overflow="fold"))
        console.print(Padding(entry, (0, 0, 0, 1), expand=False))
