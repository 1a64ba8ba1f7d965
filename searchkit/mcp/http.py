"""The server over HTTP, stateless, as an ASGI application that another process serves.

The SDK is imported at the first request, which is one reason for an answer to be long in coming.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from searchkit import __version__
from searchkit.mcp.keep_alive import Beating

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from searchkit.mcp.server import Ask

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
                # The next request tries again.
                self._made = None
            raise


def _manager(ask: "Ask") -> "StreamableHTTPSessionManager":
    # It tells of every request that it is over.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    # 1.7 s.
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from searchkit.mcp.server import server

    return StreamableHTTPSessionManager(server(ask), json_response=True, stateless=True)
