"""The official client over a real process and a real index."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from searchkit.mcp.server import TOOLS
from tests.mcp.history import ERROR, FIXED, LATER, History

COMMAND = [sys.executable, "-m", "searchkit.__main__", "mcp"]
# With a process that keeps the index open, and all in one.
WAYS = ["alone"] + (["resident"] if importlib.util.find_spec("searchkit.server.__main__") else [])
# For what is the same either way: the one that takes no seconds to start again and again.
EITHER = WAYS[-1]
ASKED = {
    "search": {"query": "cookie middleware"},
    "context": {"query": "cookie middleware"},
    "show": {"id": FIXED},
    "sessions": {"project": "shop"},
    "files": {"path": "cookie.py"},
    "fixes": {"error": ERROR},
}


def environment(history: History, way: str, **more: str) -> dict[str, str]:
    """Return what the server is told; it leaves by itself soon after the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "SEARCHKIT"))}
    alone = {"SEARCHKIT_NO_RESIDENT": "1"} if way == "alone" else {"SEARCHKIT_IDLE_SECONDS": "20"}
    return {**kept, **alone, "SEARCHKIT_INDEX": str(history.index), "SEARCHKIT_NO_VECTORS": "1", **more}


def conversed(history: History, way: str, mode: Any, talk: Callable[[Client], Any], errors: Path, **more: str) -> Any:
    """Connect the official client, let it talk, and return what it learned; the server's complaints are kept."""

    async def run() -> Any:
        server = StdioServerParameters(
            command=COMMAND[0], args=COMMAND[1:], env=environment(history, way, **more), cwd=str(errors.parent)
        )
        with errors.open("w") as complaints:
            async with Client(stdio_client(server, errlog=complaints), mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


@pytest.mark.parametrize(
    ("way", "mode", "version"),
    [(EITHER, "legacy", "2025-11-25"), *((way, "auto", "2026-07-28") for way in WAYS)],
)
def test_official_client_calls_every_tool(history: History, way: str, mode: str, version: str, tmp_path: Path) -> None:
    """With and without a handshake, every tool is listed and answers with structure and text; nothing is complained."""

    async def talk(client: Client) -> Any:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        called = {name: await client.call_tool(name, given) for name, given in ASKED.items()}
        return client.protocol_version, listed, called

    agreed, listed, called = conversed(history, way, mode, talk, tmp_path / "errors")

    assert version == agreed
    assert list(TOOLS) == list(listed)
    assert all(tool.annotations.read_only_hint for tool in listed.values())
    assert not any(result.is_error for result in called.values())
    assert all(result.structured_content and result.content[0].text for result in called.values())
    assert FIXED == called["search"].structured_content["results"][0]["session"]
    assert "" == (tmp_path / "errors").read_text()


def test_official_client_reads_a_session(history: History, tmp_path: Path) -> None:
    """Recent sessions are resources, and any session is one by its id, as Markdown."""

    async def talk(client: Client) -> Any:
        listed = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        contents = (await client.read_resource(f"searchkit://session/{FIXED}")).contents
        with pytest.raises(MCPError, match="no session"):
            await client.read_resource("searchkit://session/nonesuch")
        with pytest.raises(MCPError, match="no session"):
            await client.read_resource("file:///etc/passwd")
        return listed, template, contents

    listed, template, (document,) = conversed(history, EITHER, "auto", talk, tmp_path / "errors")

    assert f"searchkit://session/{LATER}" in [one.uri for one in listed]
    assert "searchkit://session/{id}" == template.uri_template
    assert "text/markdown" == document.mime_type
    assert "cookie middleware" in document.text


def test_wrong_calls_are_told_to_the_model(history: History, tmp_path: Path) -> None:
    """Arguments that make no sense are a result that a model can learn from; a tool that is not there is an error."""

    async def talk(client: Client) -> Any:
        refused = await client.call_tool("search", {"query": "x", "limit": 1_000})
        with pytest.raises(MCPError, match="there is no tool 'destroy'"):
            await client.call_tool("destroy", {})
        return refused

    refused = conversed(history, EITHER, "auto", talk, tmp_path / "errors")

    assert refused.is_error
    assert "limit" in refused.content[0].text


def test_session_of_the_client_is_left_out(history: History, tmp_path: Path) -> None:
    """The session that the server was started in is named to it by the environment."""

    async def talk(client: Client) -> Any:
        return (await client.call_tool("search", {"query": "ledger"})).structured_content

    found = conversed(history, EITHER, "auto", talk, tmp_path / "errors", CLAUDE_CODE_SESSION_ID=LATER)

    assert [LATER] == [one["session"] for one in found["left_out"]]
    assert LATER not in [one["session"] for one in found["results"]]


def test_end_of_input_ends_the_server(history: History) -> None:
    """What was asked before is answered, each on a line of its own, and the server leaves with status 0."""
    asked = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(5)]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in asked)

    done = subprocess.run(COMMAND, input=lines, capture_output=True, env=environment(history, EITHER), check=True)

    answered = [json.loads(line) for line in done.stdout.splitlines()]
    assert set(range(5)) == {one["id"] for one in answered}
    assert b"" == done.stderr
