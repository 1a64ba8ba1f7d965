"""The whole server in this process, asked as the resident process is: for where that cannot be had."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from searchkit.engine import Engine
from searchkit.mcp.http import Application

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
