"""A change to threads: made, read back, shown to work, and put back where that was asked for."""

import time
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

from unjank.cli.cpu._command import ended_by_signals
from unjank.cli.cpu._options import console, say, write_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unjank.cpu import Applied, Change, Observed

T = TypeVar("T")

_SIGNALS_SEEN_S = 1.0  # one that arrives just before a sleep begins does not end it


def change(
    name: str,
    apply: "Callable[[], Applied[T]]",
    show: "Callable[[T], str]",
    *,
    seconds: float | None,
    watch: float,
    json: str | None,
) -> None:
    """Applies a change and tells about it.

    Args:
        name: The command's.
        apply: Makes the change.
        show: A value in words.
        seconds: After this time it is put back; None leaves it.
        watch: How long to watch the threads.
        json: Where the document goes.
    """
    from unjank.cpu import observe

    begin = time.monotonic()
    with ended_by_signals():
        applied = apply()
        try:
            seen = observe([c.thread for c in applied.changes], watch) if watch > 0 else ()
            _tell(name, applied, show, seen, json)
            if seconds is not None:
                _hold(seconds - (time.monotonic() - begin))
        except KeyboardInterrupt:
            applied.restore()
            say("put back: what was set before is in force again")
            raise
        except BaseException:
            applied.restore()
            raise
        if seconds is not None:
            applied.restore()
            say("put back")


def _hold(seconds: float) -> None:
    if seconds > 0:
        say(f"put back in {seconds:.1f} s, or at Ctrl-C")
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, _SIGNALS_SEEN_S))


def _tell(
    name: str,
    applied: "Applied[T]",
    show: "Callable[[T], str]",
    seen: "Sequence[Observed]",
    json: str | None,
) -> None:
    rows = [_row(change, show, observed) for change, observed in zip_longest(applied.changes, seen)]
    if json is not None:
        write_document({"schema": f"unjank.cpu-{name}/1", "threads": rows}, json)
    if json != "-":
        _print(rows, watched=bool(seen))


def _row(change: "Change[T]", show: "Callable[[T], str]", seen: "Observed | None") -> dict[str, Any]:
    from unjank.cpu import format_cpu_list

    row: dict[str, Any] = {
        "pid": change.thread.pid,
        "tid": change.thread.tid,
        "name": change.thread.name,
        "before": show(change.before),
        "after": show(change.after),
    }
    if seen is not None:
        row["last_cpus"] = format_cpu_list(seen.last_cpus)
        row["ran"] = seen.ran
        row["ended"] = seen.ended
        for key, share in (("cpu_share", seen.cpu_share), ("wait_share", seen.wait_share)):
            row[key] = None if share is None else round(share, 3)
    return row


def _print(rows: "Sequence[dict[str, Any]]", *, watched: bool) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("thread", "name", "before", "now", *(("ran on", "cpu", "waited") if watched else ())):
        table.add_column(column, overflow="fold")
    for row in rows:
        cells = [str(row["tid"]), escape(row["name"]), row["before"], row["after"]]
        table.add_row(*cells, *(_effect(row) if watched else ()))
    console().print(table)


def _effect(row: "dict[str, Any]") -> list[str]:
    where = "ended" if row["ended"] else "did not run" if row["ran"] is False else row["last_cpus"]
    shares = [row["cpu_share"], row["wait_share"]]
    return [where, *("-" if share is None else f"{share:.1%}" for share in shares)]
