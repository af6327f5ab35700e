"""`unjank mcp`, as a client of the protocol sees it."""

import asyncio
import importlib.util
import subprocess
import sysconfig
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.findings.builder import MS

from unjank import UnjankError
from unjank.mcp import TraceTools, make_server

mcp = pytest.importorskip("mcp", reason="the package mcp is not installed: pip install 'unjank[mcp]'")

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT SUM(x) FROM n"


def with_server(trace: Path, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Starts the installed command and lets `talk` use a client of it."""

    async def run() -> None:
        parameters = mcp.StdioServerParameters(command=str(UNJANK), args=["mcp", str(trace)])
        async with mcp.Client(parameters) as client:
            await talk(client)

    asyncio.run(run())


def test_conversation(trace: Path) -> None:
    """A client lists the tools, reads the findings, asks SQL, errs, waits too long, and goes on."""

    async def talk(client: Any) -> None:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == {
            "list_traces",
            "list_findings",
            "finding_sql",
            "list_tables",
            "describe_table",
            "list_modules",
            "describe_module",
            "run_sql",
        }
        assert all(tool.description and tool.annotations.read_only_hint for tool in listed.tools)
        found = (await client.call_tool("list_findings", {"min_severity": "medium"})).structured_content
        assert [finding["kind"] for finding in found["findings"]] == ["lock-contention"]
        rows = (await client.call_tool("run_sql", {"sql": "SELECT dur FROM slice"})).structured_content
        assert rows["rows"] == [{"dur": 30 * MS}]
        wrong = await client.call_tool("run_sql", {"sql": "SELECT nonsense"})
        assert (wrong.is_error, "no such column" in wrong.content[0].text) == (True, True)
        late = await client.call_tool("run_sql", {"sql": ENDLESS, "deadline_s": 0.3})
        assert (late.is_error, "stopped after 0.3 s" in late.content[0].text) == (True, True)
        again = (await client.call_tool("run_sql", {"sql": "SELECT 1 AS one"})).structured_content
        assert again["rows"] == [{"one": 1}]

    with_server(trace, talk)


def test_arguments_are_described(trace: Path) -> None:
    """Each tool's schema has its arguments with their types."""
    tools = TraceTools([trace])

    async def schema() -> Any:
        return {tool.name: tool.input_schema for tool in await make_server(tools).list_tools()}

    properties = asyncio.run(schema())["run_sql"]["properties"]
    assert {name: entry.get("type") for name, entry in properties.items()} == {
        "sql": "string",
        "trace": None,
        "most_rows": "integer",
        "deadline_s": "number",
    }


def test_without_the_package(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is missing the error says how to install it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(UnjankError, match=r"pip install 'unjank\[mcp\]'"):
        make_server(TraceTools([trace]))


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.pftrace", "none.pftrace: no such file"), (".", ".: is a folder; give trace files in it")],
)
def test_missing_trace(name: str, words: str) -> None:
    """A trace that does not exist, or a folder, is said before the server starts."""
    done = subprocess.run([UNJANK, "mcp", name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"unjank: {words}\n")
