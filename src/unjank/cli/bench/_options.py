"""Options that the commands of `unjank bench` share."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write all figures as JSON; '-' is standard output, then alone."),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the figures: FILE.svg, .png or .pdf.")]
Quick = Annotated[bool, typer.Option("--quick", help="A hundredth of everything: only shows that it works.")]
Repeats = Annotated[int, typer.Option(min=1, help="Repetitions of each pair.")]
Only = Annotated[list[str] | None, typer.Option(metavar="PART", help="Only this part; may be repeated.")]
