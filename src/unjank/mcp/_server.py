"""The tools behind the Model Context Protocol, on standard input and output."""

import functools
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from unjank import UnjankError, __version__
from unjank.mcp._tools import Answer, TraceTools

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_INSTRUCTIONS = (
    "Traces of Android or Python programs, to find what their threads wait for. Call list_findings first: it "
    "tells the stalls, their causes and what to do. Then look closer with run_sql. What there is to query is "
    "told by list_tables, describe_table and list_modules, the SQL behind a finding by finding_sql."
)


def make_server(tools: TraceTools) -> "MCPServer[None]":
    """Makes the server.

    Raises:
        UnjankError: The package `mcp` is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise UnjankError("the MCP server needs the package mcp: pip install 'unjank[mcp]'")
    from mcp.server.mcpserver import MCPServer
    from mcp.types import ToolAnnotations

    server: MCPServer[None] = MCPServer(
        "unjank", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for tool in tools.tools:
        server.add_tool(_explained(tool), annotations=ToolAnnotations(read_only_hint=True))
    return server


def serve(tools: TraceTools) -> None:
    """Serves on standard input and output until the input ends; then the engine is ended.

    Raises:
        UnjankError: The package `mcp` is not installed.
    """
    server = make_server(tools)
    try:
        server.run("stdio")
    finally:
        tools.close()


def _explained(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """Lets the model read why a call failed, which it may mend."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    def explained(*args: object, **kwargs: object) -> Answer:
        try:
            return tool(*args, **kwargs)
        except UnjankError as error:
            raise ToolError(str(error)) from error

    return explained
