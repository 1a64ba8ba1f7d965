"""The MCP server: the official SDK over the registry of tools.

Importing it takes 1.7 seconds and 65 MB, so one process does it for all agents, at the first request (`http.py`), and
the process of an agent only where there is no such process (`in_process.py`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from searchkit import __version__
from searchkit.engine import Engine
from searchkit.errors import SearchkitError, UsageError
from searchkit.mcp import resources
from searchkit.mcp.caller import BECAUSE_NAMED, Caller, known
from searchkit.mcp.jsonrpc import CALLER
from searchkit.mcp.tools.base import text
from searchkit.mcp.tools.registry import INSTRUCTIONS, TOOLS, call
from searchkit.sources.apps import APPS
from searchkit.text.sanitize import one_line, safe, spoken, url

T = TypeVar("T")
READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class Ask(Protocol):
    """Runs something with an engine, in a thread, and waits for it."""

    def __call__(self, function: Callable[[Engine], T], /) -> Awaitable[T]:
        """Return what the function returns."""


def server(ask: Ask) -> Server[Any]:
    """Make the server over engines that can be asked."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in TOOLS:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; there are {', '.join(TOOLS)}"
            )
        caller, given = _caller(params.meta), params.arguments or {}
        try:
            if "exclude_session" in TOOLS[params.name].arguments.__struct_fields__ and not given.get("exclude_session"):
                # Not with an engine, which others wait for: the transcript may be written a moment later.
                roots = await ask(lambda engine: engine.roots)
                caller = await asyncio.to_thread(known, caller, roots)
            answer = await ask(lambda engine: call(engine, params.name, given, caller))
        except SearchkitError as error:
            return _refusal(error)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=safe(text(answer)))],
            structured_content=spoken(msgspec.to_builtins(answer)),
        )

    async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
        sessions = await ask(resources.recent)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resources.SCHEME + url(one.id),
                    name=one_line(one.id),
                    title=resources.named(one),
                    mime_type=resources.MARKDOWN,
                )
                for one in sessions
            ]
        )

    async def list_templates(context: Any, params: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=resources.TEMPLATE,
            name="session",
            title="A session as Markdown",
            description="What was asked in a session, what was done, and what came of it; `id` is that of the session.",
            mime_type=resources.MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            written = await ask(lambda engine: resources.read(engine, uri))
        except UsageError as error:
            raise MCPError(types.INVALID_PARAMS, safe(error.message)) from error
        contents = types.TextResourceContents(uri=uri, mime_type=resources.MARKDOWN, text=written)
        return types.ReadResourceResult(contents=[contents])

    return Server(
        "searchkit",
        version=__version__,
        title="searchkit",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def _tool(name: str) -> types.Tool:
    tool = TOOLS[name]
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=READ_ONLY,
    )


def _caller(meta: Mapping[str, Any] | None) -> Caller:
    """Read who asks; what makes no sense says nothing."""
    said = meta or {}
    try:
        caller = msgspec.convert(said.get(CALLER, {}), Caller)
    except msgspec.ValidationError:
        caller = Caller()
    calls = (said.get(app.call_field) for app in APPS.values() if app.call_field)
    call = next((one for one in calls if one is not None), None)
    return replace(caller, call=call if isinstance(call, str) else "", because=BECAUSE_NAMED)


def _refusal(error: SearchkitError) -> types.CallToolResult:
    """Tell a model what it can do better: that is a result of the tool, and no fault of the protocol."""
    said = f"{error.kind}: {error.message}" + (f"\n{error.hint}" if error.hint else "")
    return types.CallToolResult(content=[types.TextContent(type="text", text=safe(said))], is_error=True)
