"""What a run tells while it works: a bar with time left on a terminal, nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from unjank.fleet._part import Entry


class Progress(Protocol):
    """Told about each trace that is committed."""

    def done(self, entry: Entry) -> None:
        """A trace is done, one way or the other."""

    def say(self, text: str) -> None:
        """Something happened that a person at the terminal wants to know."""


class Silence:
    """Says nothing."""

    def done(self, entry: Entry) -> None:
        """See Progress."""

    def say(self, text: str) -> None:
        """See Progress."""


@contextmanager
def terminal_progress(total: int) -> Iterator[Progress]:
    """A bar on standard error if that is a terminal, else only what is said.

    Args:
        total: Number of traces to come.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("traces"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Bar(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("traces", total=total, failed="")
        yield _Bar(bar, task, console)


class _Bar:
    def __init__(self, bar: "object", task: int, console: "object") -> None:
        self._bar, self._task, self._console = bar, task, console
        self._failed = 0

    def done(self, entry: Entry) -> None:
        self._failed += entry.failed
        words = f"{self._failed} failed" if self._failed else ""
        self._bar.update(self._task, advance=1, failed=words)  # type: ignore[attr-defined]

    def say(self, text: str) -> None:
        self._console.print(f"unjank: {text}", markup=False)  # type: ignore[attr-defined]
