"""Which engine runs the SQL: the options that commands on traces share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Engine(StrEnum):
    """What runs the SQL."""

    WASM = "wasm"
    WASM64 = "wasm64"
    SHELL = "shell"


EngineChoice = Annotated[
    Engine | None,
    typer.Option(help="wasm: in this process; shell: a trace_processor_shell.", show_default="wasm"),
]
ShellPath = Annotated[
    Path | None, typer.Option(help="The shell; otherwise the one on PATH.", show_default=False)
]
