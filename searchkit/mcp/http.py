"""The server over HTTP, stateless, as an ASGI application that another process serves.

The SDK is imported at the first request. Until an answer is there a blank is sent now and then, which JSON
allows before a value: a client that hears nothing for a second takes the process for dead.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from searchkit import __version__

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from searchkit.mcp.server import Ask

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# A third of what a client waits for a sign of life.
BEAT_SECONDS = 0.3
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

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, unless it comes from a bridge of another version."""
        said = [value for name, value in scope["headers"] if name == VERSION]
        if said and said[0].decode("latin-1") != __version__:
            await send({"type": "http.response.start", "status": CONFLICT, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        beating = _Beating(send)
        answering = asyncio.ensure_future(self._answer(scope, receive, beating.send))
        try:
            while not (await asyncio.wait([answering], timeout=BEAT_SECONDS))[0]:
                await beating.beat()
        except asyncio.CancelledError:
            answering.cancel()
            raise
        answering.result()

    async def close(self) -> None:
        """End what answers; the application cannot be used again."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.gather(self._living, return_exceptions=True)

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
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

    from searchkit.mcp.server import server

    return StreamableHTTPSessionManager(server(ask), json_response=True, stateless=True)


class _Beating:
    """Lets blanks go before an answer that is long in coming; from then on its status is 200."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._has_beaten = False

    async def beat(self) -> None:
        if not self._has_begun:
            self._has_begun = self._has_beaten = True
            headers = [(b"content-type", b"application/json")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._has_beaten:
            await self._send({"type": "http.response.body", "body": b" ", "more_body": True})

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self._has_beaten:
                return
            self._has_begun = True
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            self._has_beaten = False
        await self._send(message)
