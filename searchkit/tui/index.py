"""How the interface reads the index: through the resident process, or with an engine of its own where there is none."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import urlencode

import msgspec

from searchkit.backends.base import Order
from searchkit.backends.registry import is_local_index
from searchkit.client import connect, control
from searchkit.engine import Engine
from searchkit.errors import SearchkitError, UsageError
from searchkit.query.parse import understand
from searchkit.query.types import Mode
from searchkit.render.wire import search as searches
from searchkit.render.wire import sessions as listings
from searchkit.search.types import SearchOptions
from searchkit.text.sanitize import url
from searchkit.web.conversation_api import Reading, ReadingParameters, reading
from searchkit.web.endpoints import Unread

T = TypeVar("T")
Parameters = Mapping[str, str | int]
MOST_SESSIONS = 100
# Rows of a conversation that are fetched for the preview.
MOST_ROWS = 60
# A process that is busy elsewhere, or reads from a cold disk; meanwhile the interface goes on.
ANSWER_SECONDS = 30.0
_PIECE_BYTES = 65_536


class Index(Protocol):
    """What the interface asks for; cancelled, a question ends where it can."""

    async def search(self, words: str, order: Order, limit: int, /) -> searches.Answer:
        """Find messages."""
        ...

    async def sessions(self) -> listings.Sessions:
        """List the newest sessions."""
        ...

    async def facets(self, words: str, names: tuple[str, ...], /) -> searches.Facets:
        """Count what matches by its values."""
        ...

    async def reading(self, id: str, words: str, /) -> Reading:
        """Show the rows around a message, with the words marked."""
        ...

    async def values(self, name: str, /) -> list[str]:
        """Return the values of a filter, those that most sessions have first."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


def open_index(directory: str, is_resident_wanted: bool) -> "Index":
    """Open an index: by the resident process, which is started, or without it where that is wanted or it cannot be."""
    if is_resident_wanted and is_local_index(directory):
        try:
            control.start(Path(directory), ())
        except (SearchkitError, OSError, connect.NobodyThere, connect.NoAnswer):
            return OwnIndex(directory)
        return ResidentIndex(directory)
    return OwnIndex(directory)


class ResidentIndex:
    """The index that the resident process holds open, asked over its socket."""

    def __init__(self, directory: str) -> None:
        """Connect for each question only: one that is cancelled ends with its connection."""
        self._directory = directory

    async def search(self, words: str, order: Order, limit: int, /) -> searches.Answer:
        """Find messages."""
        asked: Parameters = {"q": words, "limit": limit, "thread": 1, "sort": order.value}
        return await self._get("/v1/search", searches.Answer, asked)

    async def sessions(self) -> listings.Sessions:
        """List the newest sessions."""
        return await self._get("/v1/sessions", listings.Sessions, {"limit": MOST_SESSIONS})

    async def facets(self, words: str, names: tuple[str, ...], /) -> searches.Facets:
        """Count what matches by its values."""
        return await self._get("/v1/facets", searches.Facets, {"q": words, "facets": ",".join(names)})

    async def reading(self, id: str, words: str, /) -> Reading:
        """Show the rows around a message, with the words marked."""
        asked: Parameters = {"q": words, "count": MOST_ROWS, "pictures": "no"}
        return await self._get(f"/v1/readings/{url(id)}", Reading, asked)

    async def values(self, name: str, /) -> list[str]:
        """Return the values of a filter, those that most sessions have first."""
        return (await self._get(f"/v1/values/{name}", searches.Values, {})).values

    def close(self) -> None:
        """Do nothing: the process goes on for others."""

    async def _get(self, path: str, returns: type[T], parameters: Parameters) -> T:
        target = f"{path}?{urlencode(parameters)}"
        try:
            status, body = await self._ask(target)
        except connect.NobodyThere:
            # It left because nobody had asked for a while, or was ended.
            await asyncio.to_thread(control.start, Path(self._directory), ())
            status, body = await self._ask(target)
        except connect.NoAnswer as fault:
            raise SearchkitError(f"the resident process gave no answer: {fault}", "try again") from fault
        if status != 200:
            raise _refusal(body)
        return msgspec.json.decode(body, type=returns)

    async def _ask(self, target: str) -> tuple[int, bytes]:
        connection, credentials = connect.connected(self._directory)
        loop, answer = asyncio.get_running_loop(), bytearray()
        try:
            connection.setblocking(False)
            async with asyncio.timeout(ANSWER_SECONDS):
                await loop.sock_sendall(connection, connect.request("GET", target, b"", credentials))
                while piece := await loop.sock_recv(connection, _PIECE_BYTES):
                    answer += piece
        except OSError as error:
            # TimeoutError is one, too.
            raise connect.NoAnswer(f"it went silent: {error}") from error
        finally:
            connection.close()
        return connect.taken_apart(bytes(answer))


class OwnIndex:
    """The index opened in this process, asked in a thread, one question after the other."""

    def __init__(self, directory: str) -> None:
        """Open nothing yet."""
        self._engine = Engine(directory)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="searchkit-interface")

    async def search(self, words: str, order: Order, limit: int, /) -> searches.Answer:
        """Find messages."""
        options = SearchOptions(query=understand(words), limit=limit, thread=1, sort=order)
        return await self._do(lambda: searches.answer(self._engine.answer(options), Mode.HYBRID.value))

    async def sessions(self) -> listings.Sessions:
        """List the newest sessions."""

        def ask() -> listings.Sessions:
            everything = self._engine.sessions()
            shown = everything[:MOST_SESSIONS]
            costs = self._engine.costs([session.id for session in shown])
            return listings.sessions(shown, costs, len(everything))

        return await self._do(ask)

    async def facets(self, words: str, names: tuple[str, ...], /) -> searches.Facets:
        """Count what matches by its values."""
        return await self._do(lambda: searches.facets(self._engine.search(words, 1, thread=0, facets=names)))

    async def reading(self, id: str, words: str, /) -> Reading:
        """Show the rows around a message, with the words marked."""

        def ask() -> Reading:
            found = reading(self._engine, ReadingParameters(q=words, count=MOST_ROWS, pictures=False), id)
            assert not isinstance(found, Unread)
            return found

        return await self._do(ask)

    async def values(self, name: str, /) -> list[str]:
        """Return the values of a filter, those that most sessions have first."""
        return await self._do(lambda: self._engine.values(name))

    def close(self) -> None:
        """Close the engine once what it does is done."""
        self._thread.submit(self._engine.close)
        self._thread.shutdown(cancel_futures=False)

    async def _do(self, ask: Callable[[], T]) -> T:
        """Ask in the thread; what is cancelled before its turn never begins."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, ask)


class _Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, as the process says it."""

    message: str
    hint: str = ""


class _Refusal(msgspec.Struct, frozen=True, kw_only=True):
    error: _Fault


def _refusal(body: bytes) -> SearchkitError:
    try:
        fault = msgspec.json.decode(body, type=_Refusal).error
    except msgspec.MsgspecError:
        return SearchkitError("the resident process gave an answer that cannot be read", "try again")
    return UsageError(fault.message, fault.hint)
