"""An MCP server: a user's language model lists tables, runs SQL on traces and reads their findings.

Layout: `_server` is the only file that needs the package `mcp`; `_tools` is what it offers; `_engine_process`
keeps the engine in a process that can be ended at a deadline, in which `_engine_main` runs; `_messages` is
what the two say to each other; `_stdlib_docs` reads the documentation of Perfetto's standard library.
"""

from unjank.mcp._server import make_server, serve
from unjank.mcp._tools import TraceTools

__all__ = ["TraceTools", "make_server", "serve"]
