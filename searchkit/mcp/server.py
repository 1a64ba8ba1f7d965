"""The MCP server: the official SDK over the table of tools, on a stream or over HTTP."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace
from starlette.types import Receive, Scope, Send

from searchkit import __version__
from searchkit.engine import Engine
from searchkit.errors import SearchkitError, UsageError
from searchkit.mcp import resources
from searchkit.mcp.caller import BECAUSE_NAMED, Caller, known
from searchkit.mcp.jsonrpc import CALLER
from searchkit.mcp.keep_alive import Beating
from searchkit.mcp.tools import INSTRUCTIONS, TOOLS, call
from searchkit.mcp.written import text
from searchkit.sources.claude.caller import CALL
from searchkit.text.sanitize import one_line, safe, spoken, url

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


# The MCP server: the official SDK over our tools, on a stream or over HTTP.
#
# Importing this takes 1.7 seconds and 65 MB, so that one process does it for all agents (see `http.py`), and a process
# of an agent's own only where there is no such (see `bridge.py`).

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
            if "exclude_session" in TOOLS[params.name].takes.__struct_fields__ and not given.get("exclude_session"):
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
    call = said.get(CALL)
    return replace(caller, call=call if isinstance(call, str) else "", because=BECAUSE_NAMED)


def _refusal(error: SearchkitError) -> types.CallToolResult:
    """Tell a model what it can do better: that is a result of the tool, and no fault of the protocol."""
    said = f"{error.kind}: {error.message}" + (f"\n{error.hint}" if error.hint else "")
    return types.CallToolResult(content=[types.TextContent(type="text", text=safe(said))], is_error=True)


# The server over HTTP, stateless, as an ASGI application that another process serves.
#
# The SDK is imported at the first request, which is one reason for an answer to be long in coming.


# What a bridge says of itself.
VERSION = b"x-searchkit-version"
CONFLICT = 409


def asgi(ask: "Ask") -> "Application":
    """Return the application over engines that can be asked."""
    return Application(ask)


class Application:
    """The ASGI application; what it needs is made at the first request."""

    def __init__(self, ask: "Ask") -> None:
        """Take what runs something with an engine."""
        self._ask = ask
        self._made: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._living: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless it comes from a bridge of another version."""
        said = [value for name, value in scope["headers"] if name == VERSION]
        if said and said[0].decode("latin-1") != __version__:
            await send({"type": "http.response.start", "status": CONFLICT, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        beating = Beating(send)
        answering = asyncio.ensure_future(self._answer(scope, receive, beating.send))
        await beating.until(answering)
        answering.result()

    async def close(self) -> None:
        """End what answers; the application cannot be used again."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.gather(self._living, return_exceptions=True)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            self._made = asyncio.get_running_loop().create_future()
            self._living = asyncio.create_task(self._live(self._made))
        manager = await asyncio.shield(self._made)
        await manager.handle_request(scope, receive, send)

    async def _live(self, made: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        """Hold open what the SDK runs requests in, in one task from beginning to end."""
        try:
            manager = await asyncio.to_thread(_manager, self._ask)
            async with manager.run():
                made.set_result(manager)
                await asyncio.get_running_loop().create_future()
        except BaseException as error:
            if not made.done():
                made.set_exception(error)
                # Whoever comes next may have more luck.
                self._made = None
            raise


def _manager(ask: "Ask") -> "StreamableHTTPSessionManager":
    # It tells of every request that it is over.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    # 1.7 s.
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(server(ask), json_response=True, stateless=True)
