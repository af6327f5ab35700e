"""`unjank mcp`: traces for a language model."""

from pathlib import Path
from typing import Annotated

import typer

from unjank.cli._engine import Engine, ShellPath


def mcp(
    traces: Annotated[
        list[Path], typer.Argument(help="Traces that the model may ask about.", show_default=False)
    ],
    engine: Annotated[
        Engine | None,
        typer.Option(help="wasm: unjank's own; shell: a trace_processor_shell.", show_default="wasm"),
    ] = None,
    shell_path: ShellPath = None,
) -> None:
    """Serve traces to a language model: an MCP server on standard input and output."""
    from unjank.mcp import TraceTools, serve

    serve(TraceTools(traces, engine=engine.value if engine else None, shell_path=shell_path))
