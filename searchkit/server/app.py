"""The ASGI application: routes, errors as JSON, keep-alive bytes, cancelled requests."""

import asyncio
import logging
import os
from collections.abc import Awaitable
from typing import TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive

from searchkit.engine import Engine
from searchkit.errors import (
    IndexFault,
    ModelFault,
    NotFound,
    NotPrivate,
    Refused,
    SearchkitError,
    SourceError,
    UsageError,
)
from searchkit.mcp import http
from searchkit.mcp.http import asgi
from searchkit.render.wire import base as wire
from searchkit.render.wire.health import Leaving, Opened, Port
from searchkit.server.openapi import description
from searchkit.server.routes import ENDPOINTS
from searchkit.server.run_command import run
from searchkit.server.service import Service
from searchkit.web import files as page
from searchkit.web.conversation_api import PAGE_ENDPOINTS
from searchkit.web.endpoints import Endpoint, Parameters, Unread, parse

# Too many at once, or an index that cannot be read now: worth another try after this.
RETRY_SECONDS = 1


def answered(value: object, status: int = 200) -> Response:
    """Answer with JSON, whose text may be printed on a terminal as it is."""
    return Response(wire.encode(value), status, media_type="application/json")


def refused(error: SearchkitError) -> Response:
    """Answer with what went wrong."""
    response = answered(wire.error(error), status_of(error))
    if response.status_code == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def status_of(error: SearchkitError) -> int:
    """Return the status of an error."""
    match error:
        case Refused():
            return error.status
        case NotFound():
            return 404
        case UsageError():
            return 400
        case IndexFault() | ModelFault() | SourceError() | NotPrivate():
            # The index or the model cannot be used as it is now; the request was good.
            return 503
    return 500


# Gives up what nobody waits for any more: a client that went away asks again, and would wait behind himself.

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
        raise Refused(CLIENT_GONE, "the client has disconnected")
    finally:
        task.cancel()
        gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# The HTTP interface: every address, and what goes wrong turned into an answer.

log = logging.getLogger(__name__)


def application(service: Service) -> Starlette:
    """Return the application, without what guards its doors."""
    return Starlette(
        routes=[*_reading(service), *_own(service), *_for_agents(service), *page.routes()],
        exception_handlers={SearchkitError: _went_wrong, HTTPException: _unknown, Exception: _fault},
    )


def _reading(service: Service) -> list[BaseRoute]:
    """Return what reads the index."""

    def route(endpoint: Endpoint) -> BaseRoute:
        async def handle(request: Request) -> Response:
            given = parse(endpoint.parameters, request.query_params.multi_items())
            id = request.path_params.get("id", "")
            return await unless_gone(request.receive, _answer(service, endpoint, given, id))

        return Route(endpoint.path, handle)

    return [route(endpoint) for endpoint in (*ENDPOINTS, *PAGE_ENDPOINTS)]


async def _answer(service: Service, endpoint: Endpoint, given: Parameters, id: str) -> Response:
    """Ask an engine, and read what is missing then without holding it."""

    def ask(engine: Engine) -> Response | Unread:
        found = endpoint.answer(engine, given, id)
        return found if isinstance(found, Unread) else answered(found)

    found = await service.engines.ask(ask, may_wait=not endpoint.is_search)
    return await service.transcripts.finish(found, answered) if isinstance(found, Unread) else found


def _own(service: Service) -> list[BaseRoute]:
    """Return what is about the process itself, and what runs commands for its clients."""

    async def health(request: Request) -> Response:
        return answered(service.health())

    async def openapi(request: Request) -> Response:
        return answered(description())

    async def run_command(request: Request) -> Response:
        body = await request.body()
        asked = unless_gone(request.receive, service.engines.ask(lambda engine: run(engine, body)))
        return await http.answer(asked, _complain)

    async def listen(request: Request) -> Response:
        try:
            asked = msgspec.json.decode(await request.body(), type=Port)
            door = await service.server.open_port(asked.port)
        except msgspec.MsgspecError as error:
            raise UsageError(f"that is no port: {error}", 'send {"port": 0} for any free one') from error
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "there is no such port"
            raise Refused(409, f"cannot listen on port {asked.port}: {reason}", "take another port, or 0") from error
        return answered(Opened(port=door.port, address=door.address))

    async def stop(request: Request) -> Response:
        service.server.leave("it was told to")
        return answered(Leaving(pid=os.getpid()))

    return [
        Route("/v1/health", health),
        Route("/v1/openapi.json", openapi),
        Route("/v1/run", run_command, methods=["POST"]),
        Route("/v1/listen", listen, methods=["POST"]),
        Route("/v1/stop", stop, methods=["POST"]),
    ]


def _for_agents(service: Service) -> list[BaseRoute]:
    """Return what speaks MCP, which imports nothing before its first request."""
    spoken = asgi(service.engines.ask)
    service.on_leaving(spoken.close)
    # A GET would open a stream of messages from the server, of which there are none: it would never end.
    return [Route("/mcp", spoken, methods=["POST"])]


async def _went_wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, SearchkitError)
    return refused(error)


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    hint = "/v1/openapi.json lists what can be asked"
    response = refused(Refused(error.status_code, f"{request.method} {request.url.path}: {error.detail}", hint))
    response.headers.update(error.headers or {})
    return response


async def _fault(request: Request, error: Exception) -> Response:
    _complain(error)
    message = f"{type(error).__name__}: {error}"
    return refused(Refused(500, message, "this is a fault of searchkit; please report it"))


def _complain(error: BaseException) -> None:
    log.error("a request failed", exc_info=error)
