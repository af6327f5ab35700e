"""All findings as tables, one for each kind, with the SQL of its numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unjank.findings import Finding, Json, format_duration, sql_of
from unjank.report._words import short_site

_MOST_ROWS = 500  # of a table; more make a page that browsers are slow with


@dataclass(frozen=True)
class Cell:
    """A cell: what it shows, what stands below that, what it is sorted by. Numbers go to the right."""

    text: str
    key: str
    is_number: bool = False
    below: str = ""


@dataclass(frozen=True)
class Table:
    """The findings of a kind, the worst of them; `left` is how many more there are.

    `columns` are headings with whether they are of numbers.
    """

    kind: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[Cell, ...], ...]
    sql: str
    left: int


def tables(findings: Sequence[Finding]) -> list[Table]:
    """A table for each kind, in the order of its worst finding; columns that all lack are left out."""
    kinds: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        kinds[finding.kind].append(finding)
    return [_table(kind, found) for kind, found in kinds.items()]


def _table(kind: str, found: Sequence[Finding]) -> Table:
    rows = [_row(finding) for finding in found[:_MOST_ROWS]]
    used = [name for name in rows[0] if any(row[name].text for row in rows)]
    left = len(found) - len(rows)
    columns = tuple((name, rows[0][name].is_number) for name in used)
    return Table(kind, columns, tuple(tuple(row[name] for name in used) for row in rows), sql_of(kind), left)


def _row(finding: Finding) -> dict[str, Cell]:
    detail = finding.detail
    worst = detail.get("worst")
    lock = detail.get("lock") if detail.get("lock_known", True) else None
    return {
        "severity": Cell(finding.severity.value, str(finding.severity.rank)),
        "longest": _time(finding.dur_ns),
        "off CPU": _time(worst.get("held_off_ns") if isinstance(worst, Mapping) else None),
        "total": _time(detail.get("total_ns")),
        "times": Cell(str(finding.count), str(finding.count), is_number=True),
        "thread": _words(finding.thread, finding.process),
        "where": _words(short_site(finding.where)),
        "lock": _words(lock),
        str(detail.get("owner_role", "held by")): _words(finding.owner, short_site(finding.owner_where)),
    }


def _time(value: Json) -> Cell:
    if not isinstance(value, int):
        return Cell("", "-1", is_number=True)
    return Cell(format_duration(value), str(value), is_number=True)


def _words(value: Json, below: str | None = None) -> Cell:
    text = str(value) if value is not None else ""
    return Cell(text, text.casefold(), below=below or "")
