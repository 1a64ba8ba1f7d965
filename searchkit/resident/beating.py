"""Answers that take long: white space says meanwhile that somebody is at it."""

import asyncio
from collections.abc import Awaitable, Callable

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from searchkit.errors import SearchkitError
from searchkit.render import json

# A client takes a second of silence for death, and a beat may come late where other threads are busy.
BEAT_SECONDS = 0.2

Complain = Callable[[BaseException], None]


async def answer(working: Awaitable[bytes], complain: Complain) -> Response:
    """Answer with JSON as soon as it is there; from the first beat on, what goes wrong comes with status 200."""
    task = asyncio.ensure_future(working)
    done, _ = await asyncio.wait([task], timeout=BEAT_SECONDS)
    return Response(task.result(), media_type="application/json") if done else _Beating(task, complain)


class _Beating(Response):
    """Sends a space now and then, which JSON allows before a value, and then the value.

    Starlette's own response for this first imports what it runs on, for as long as two beats.
    """

    media_type = "application/json"

    def __init__(self, task: "asyncio.Future[bytes]", complain: Complain) -> None:
        super().__init__()
        # How long it will be is not known.
        del self.headers["content-length"]
        self._task = task
        self._complain = complain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while not self._task.done():
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.wait([self._task], timeout=BEAT_SECONDS)
        await send({"type": "http.response.body", "body": self._value()})

    def _value(self) -> bytes:
        try:
            return self._task.result()
        except SearchkitError as error:
            return orjson.dumps(json.error(error))
        except Exception as error:  # the outermost shell: the answer has begun, so it must end in words
            self._complain(error)
            fault = SearchkitError(type(error).__name__, "this is a fault of searchkit; please report it")
            return orjson.dumps(json.error(fault))
