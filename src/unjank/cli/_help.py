"""Help texts for the terminal's width: docstrings are wrapped for the source."""

import inspect
from typing import Any


def unwrap(command: Any) -> None:  # noqa: ANN401  typer's commands and groups have no public class
    """Joins the lines of each paragraph, of a command and of all below it; typer joins the first one's."""
    if command.help:
        paragraphs = inspect.cleandoc(command.help).split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for below in getattr(command, "commands", {}).values():
        unwrap(below)
