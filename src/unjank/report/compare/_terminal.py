"""The comparison on a terminal: counts, then each change with its figures before and after."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from unjank.findings import Finding, format_duration
from unjank.report._terminal import print_list
from unjank.report._words import as_sentence, clean, short_site
from unjank.report.compare._bootstrap import Ratio
from unjank.report.compare._compare import Change, Comparison, Occurrences, Side

DEFAULT_TOP = 10
_INDENT = 8
_STYLES = {
    Change.NEW: "bold red",
    Change.WORSE: "red",
    Change.UNCLEAR: "dim",
    Change.BETTER: "green",
    Change.GONE: "bold green",
}
_HEADINGS = {
    Change.NEW: "new: only after",
    Change.WORSE: "worse",
    Change.UNCLEAR: "no clear change",
    Change.BETTER: "better",
    Change.GONE: "gone: only before",
}


def render_comparison(
    console: Console, before: Side, after: Side, comparisons: Sequence[Comparison], *, top: int = DEFAULT_TOP
) -> None:
    """Prints a comparison.

    Args:
        console: Where to; its width and colours are kept to.
        before: The trace that was compared with.
        after: The one that was compared.
        comparisons: As `compare` gives them.
        top: Number of entries of each change to list.
    """
    for label, side in (("before", before), ("after", after)):
        length = format_duration(side.dur_ns)
        console.print(Text(f"{label:<6}  {clean(side.trace)}, {length}", style="bold"))
    console.print()
    console.print(_lead(comparisons))
    for change in Change:
        listed = [comparison for comparison in comparisons if comparison.change is change]
        if listed:
            _print_change(console, change, listed, top)
    if any(comparison.total or comparison.median for comparison in comparisons):
        console.print()
        words = (
            "0.5x is the ratio of after to before, in brackets the interval that holds it at 95 % confidence."
        )
        console.print(Text(words, style="dim"))
    print_list(console, "Notes", list(_notes(before, after)))


def lead(comparisons: Sequence[Comparison]) -> str:
    """How many changes of each sort there are, as a sentence."""
    if not comparisons:
        return "No stall was found in either trace."
    counts = Counter(comparison.change for comparison in comparisons)
    return ", ".join(f"{counts[change]} {_word(change)}" for change in Change if counts[change]) + "."


def _notes(before: Side, after: Side) -> Iterator[str]:
    """What the traces could not tell, and of which of them that is said."""
    both = [note for note in before.found.notes if note in after.found.notes]
    told = (("both", both), ("before", before.found.notes), ("after", after.found.notes))
    for label, notes in told:
        yield from (f"{label}: {as_sentence(note)}" for note in notes if label == "both" or note not in both)


def _lead(comparisons: Sequence[Comparison]) -> Text:
    bad = any(comparison.change in (Change.NEW, Change.WORSE) for comparison in comparisons)
    return Text(lead(comparisons), style="bold" if bad else "green")


def _word(change: Change) -> str:
    return "without a clear change" if change is Change.UNCLEAR else change.value


def _print_change(console: Console, change: Change, listed: Sequence[Comparison], top: int) -> None:
    console.print()
    console.print(Text(f"{_HEADINGS[change]} ({len(listed)})", style=_STYLES[change]))
    for comparison in listed[:top]:
        _print_entry(console, comparison)
    left = len(listed) - top
    if left > 0:
        console.print(Text(f"… and {left} more: --top {len(listed)} or --json shows them", style="dim"))


def _print_entry(console: Console, comparison: Comparison) -> None:
    finding = comparison.shown
    process = f" ({finding.process})" if finding.process else ""
    line = Text(f"{_severities(comparison):<14}  ", style="bold")
    line.append(f"{finding.kind}  ", style="bold")
    line.append(clean(f"{finding.thread}{process}"), style="not bold")
    console.print(line)
    for text in (*_subject(finding), *_figures(comparison)):
        console.print(Padding(Text(clean(text), overflow="fold"), (0, 0, 0, _INDENT), expand=False))


def _severities(comparison: Comparison) -> str:
    sides = (comparison.before, comparison.after)
    known = list(dict.fromkeys(side.severity.value for side in sides if side))
    return " to ".join(known)


def _subject(finding: Finding) -> Iterator[str]:
    lock = finding.detail.get("lock")
    if isinstance(lock, str) and finding.detail.get("lock_known", True):
        yield f"for {lock}"
    elif finding.where:
        yield f"in {short_site(finding.where)}"
    if finding.owner_where:
        yield f"held in {short_site(finding.owner_where)}"


def _figures(comparison: Comparison) -> Iterator[str]:
    yield f"worst   {_both(comparison, _longest)}"
    yield f"total   {_both(comparison, _total)}{_told('per second', comparison.total)}"
    yield f"times   {_both(comparison, _times)}"
    lengths = [_told("median", comparison.median), _told("95th percentile", comparison.slowest)]
    if any(lengths):
        yield f"length  {''.join(lengths).lstrip(', ')}"


def _both(comparison: Comparison, figure: Callable[[Occurrences], str]) -> str:
    """A figure before and after; only one where the other trace has none."""
    return " to ".join(figure(side) for side in (comparison.before, comparison.after) if side)


def _longest(side: Occurrences) -> str:
    return format_duration(side.longest_ns)


def _total(side: Occurrences) -> str:
    return "-" if side.total_ns is None else format_duration(side.total_ns)


def _times(side: Occurrences) -> str:
    return str(side.count)


def _told(what: str, ratio: Ratio | None) -> str:
    """A ratio with its interval: `, median 0.31x (0.22 to 0.44)`."""
    if ratio is None:
        return ""
    return f", {what} {ratio.value:.3g}x ({ratio.low:.3g} to {ratio.high:.3g})"
