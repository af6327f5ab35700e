"""How rates are shown: as a table for people, as plain values for programs."""

from dataclasses import asdict
from typing import Any, Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unjank.cpu.cpulist import format_cpu_list
from unjank.cpu.stat.rates import Rates, ThreadRate

Order = Literal["cpu", "wait", "switches", "migrations", "tid"]

_COLUMNS = ("tid", "thread", "", "cpu", "wait", "vol/s", "invol/s", "migr/s", "on", "may use", "priority", "")


def table(rates: Rates, order: Order = "cpu", top: int | None = None) -> Table:
    """All threads, or the `top` first of them, in that order."""
    shown = sorted(rates.threads, key=lambda rate: _rank(rate, order))
    hidden = 0 if top is None else max(len(shown) - top, 0)
    made = Table(box=None, pad_edge=False, caption_justify="left", title_justify="left", title=_title(rates))
    for name in _COLUMNS:
        made.add_column(name, justify="left" if name in ("thread", "", "may use", "priority") else "right")
    for rate in shown[: len(shown) - hidden]:
        made.add_row(*_cells(rate), style="bold yellow" if rate.storms else None)
    if hidden:
        made.caption = f"{hidden} more; --top shows them"
    return made


def document(rates: Rates) -> dict[str, Any]:
    """One sample as plain values; shares and rates have three decimals."""
    threads = []
    for rate in rates.threads:
        values = {key: round(v, 3) if isinstance(v, float) else v for key, v in asdict(rate).items()}
        threads.append({**values, "affinity": format_cpu_list(rate.affinity), "storms": list(rate.storms)})
    return {
        "seconds": round(rates.seconds, 3),
        "threads": threads,
        "started": list(rates.started),
        "ended": list(rates.ended),
    }


def _title(rates: Rates) -> Text:
    share = sum(rate.cpu_share or 0.0 for rate in rates.threads)
    waiting = sum(rate.wait_share or 0.0 for rate in rates.threads)
    storms = sum(bool(rate.storms) for rate in rates.threads)
    count = len(rates.threads)
    words = [
        f"process {rates.pid} ({rates.name}): {count} thread{'' if count == 1 else 's'}",
        f"{share:.0%} of a CPU",
        f"{waiting:.0%} waiting for one",
    ]
    if storms:
        words.append(f"{storms} in a storm")
    return Text(", ".join(words))


def _cells(rate: ThreadRate) -> list[str]:
    return [
        str(rate.tid),
        escape(rate.name),
        rate.state,
        _percent(rate.cpu_share),
        _percent(rate.wait_share),
        _count(rate.voluntary),
        _count(rate.involuntary),
        _count(rate.migrations),
        str(rate.last_cpu),
        format_cpu_list(rate.affinity),
        rate.priority,
        " ".join(rate.storms),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _count(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:,.0f}"


def _rank(rate: ThreadRate, order: Order) -> tuple[float, int]:
    values = {
        "cpu": rate.cpu_share,
        "wait": rate.wait_share,
        "switches": (rate.voluntary or 0.0) + (rate.involuntary or 0.0),
        "migrations": rate.migrations,
        "tid": 0.0,
    }
    return -(values[order] or 0.0), rate.tid
