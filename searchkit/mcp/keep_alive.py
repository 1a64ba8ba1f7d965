"""Answers that take long: white space says meanwhile that somebody is at it."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from searchkit.client import connect
from searchkit.errors import SearchkitError
from searchkit.render.wire import base as wire

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
