"""Gives up what nobody waits for any more: a client that went away asks again, and would wait behind himself."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Receive

from searchkit.errors import Refused

T = TypeVar("T")
# What proxies write into their logs for it; nobody reads it.
CLIENT_GONE = 499


async def unless_gone(receive: Receive, working: Awaitable[T]) -> T:
    """Return what is worked on; once the client is gone, what has not begun yet never begins."""
    task = asyncio.ensure_future(working)
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Refused(CLIENT_GONE, "nobody waits for it any more")
    finally:
        task.cancel()
        gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
