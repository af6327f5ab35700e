"""Options that the commands of `unjank bench` share."""

from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write all figures as JSON; '-' is standard output, then alone."),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the figures: FILE.svg, .png or .pdf.")]
Quick = Annotated[bool, typer.Option("--quick", help="A hundredth of everything: only shows that it works.")]
Repeats = Annotated[int, typer.Option(min=1, help="Repetitions of each pair.")]
Cpus = Annotated[
    str | None,
    typer.Option(metavar="CPUS", help="Only these: 0-3,8, or words as in `unjank cpu`: 'one per cluster'."),
]


def only(parts: str) -> Any:  # noqa: ANN401  typer's options have no public class
    """The option that every `--only` is, with the parts that there are."""
    return typer.Option(metavar="PART", help=f"Only this part; may be repeated: {parts}.")


def chosen_cpus(words: str | None) -> list[int] | None:
    """The CPUs that `--cpus` means, ascending; None if it was not given.

    Raises:
        UnjankError: There are none such.
    """
    from unjank.cpu import read_topology, resolve_cpus

    return None if words is None else sorted(resolve_cpus(words, read_topology()))
