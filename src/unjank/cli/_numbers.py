"""Numbers on the command line."""

import math

import typer


def finite(value: float | None) -> float | None:
    """Refuses `nan` and `inf`, which Python reads as numbers and no range keeps out.

    Raises:
        typer.BadParameter: It is one of them.
    """
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value
