"""MCP over HTTP: a stateless ASGI application that another process serves, and keep-alive for slow answers.

The SDK is imported at the first request, which is one reason for an answer to be long in coming.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from searchkit import __version__
from searchkit.client import connect
from searchkit.engine import Engine
from searchkit.errors import SearchkitError
from searchkit.render.wire import base as wire

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from searchkit.mcp.server import Ask


# So often that a client hears one in time, also where other threads are busy and let some come late.
BEAT_SECONDS = connect.SILENCE_SECONDS / 5

Complain = Callable[[BaseException], None]


async def answer(working: Awaitable[bytes], complain: Complain) -> Response:
    """Answer with JSON as soon as it is there; from the first beat on, what goes wrong comes with status 200."""
    task = asyncio.ensure_future(working)
    done, _ = await asyncio.wait([task], timeout=BEAT_SECONDS)
    return Response(task.result(), media_type="application/json") if done else _Late(task, complain)


class Beating:
    """Sends a space now and then, which JSON allows before a value; from the first one on the status is 200.

    Starlette's own response for this first imports what it runs on, for as long as two beats.
    """

    def __init__(self, send: Send) -> None:
        """Take what sends to the client."""
        self._send = send
        self._has_begun = False
        self._has_beaten = False

    async def until(self, working: "asyncio.Future[None] | asyncio.Future[bytes]") -> None:
        """Send keep-alive bytes until some work is done; cancel the work with the request."""
        try:
            while not (await asyncio.wait([working], timeout=BEAT_SECONDS))[0]:
                await self.beat()
        except asyncio.CancelledError:
            working.cancel()
            raise

    async def beat(self) -> None:
        """Send a space, unless an answer has begun by itself, or is over."""
        if not self._has_begun:
            self._has_begun = self._has_beaten = True
            headers = [(b"content-type", b"application/json")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        if self._has_beaten:
            await self._send({"type": "http.response.body", "body": b" ", "more_body": True})

    async def send(self, message: Message) -> None:
        """Send what the answer is made of; after a beat, without the beginning that it has had."""
        if message["type"] == "http.response.start":
            if self._has_beaten:
                return
            self._has_begun = True
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            self._has_beaten = False
        await self._send(message)


class _Late(Response):
    """An answer that is not there yet: how long it will be is not known, nor whether it goes wrong."""

    def __init__(self, task: "asyncio.Future[bytes]", complain: Complain) -> None:
        super().__init__()
        self._task = task
        self._complain = complain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        beating = Beating(send)
        await beating.beat()
        await beating.until(self._task)
        await Response(self._value())(scope, receive, beating.send)

    def _value(self) -> bytes:
        try:
            return self._task.result()
        except SearchkitError as error:
            return wire.encode(wire.error(error)).encode()
        except Exception as error:  # the outermost shell: the answer has begun, so it must end in words
            self._complain(error)
            fault = SearchkitError(type(error).__name__, "this is a fault of searchkit; please report it")
            return wire.encode(wire.error(fault)).encode()


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


# The same application in this process, for where the resident process cannot be had.


T = TypeVar("T")


class Here:
    """An event loop in a thread of its own, with the application and one engine."""

    def __init__(self, index: str) -> None:
        """Start the loop; the engine opens the index when it is asked."""
        self._engine = Engine(index)
        # An engine is for one at a time.
        self._alone = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._application = Application(self._run)
        self._thread = threading.Thread(target=self._loop.run_forever, name="searchkit-mcp", daemon=True)
        self._thread.start()

    def ask(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Return the body of the answer to a request."""
        return asyncio.run_coroutine_threadsafe(self._ask(body, headers), self._loop).result()

    def close(self) -> None:
        """End the loop."""
        asyncio.run_coroutine_threadsafe(self._application.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._engine.close()

    async def _ask(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": None,
            "server": None,
        }
        sent: list[bytes] = []
        is_read = False

        async def receive() -> dict[str, Any]:
            nonlocal is_read
            if is_read:
                await asyncio.get_running_loop().create_future()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        await self._application(scope, receive, send)
        return b"".join(sent)

    async def _run(self, function: Callable[[Engine], T], /) -> T:
        def asked() -> T:
            with self._alone:
                return function(self._engine)

        return await asyncio.to_thread(asked)
