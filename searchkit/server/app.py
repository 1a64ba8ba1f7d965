"""The ASGI application: routes, errors as JSON, keep-alive bytes, cancelled requests."""

import asyncio
import logging
import os
from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive

from searchkit import __version__
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
from searchkit.render.wire.base import Error, Wire
from searchkit.render.wire.health import Health, Leaving, Opened, Port
from searchkit.server.routes import ENDPOINTS
from searchkit.server.run_command import run
from searchkit.server.service import Service
from searchkit.text import secrets
from searchkit.web import files as page
from searchkit.web.conversation_api import PAGE_ENDPOINTS
from searchkit.web.endpoints import Endpoint, Parameter, Parameters, Unread, parameters, parse

# The OpenAPI description of the HTTP interface, made of the routes and the structs that they take and return.


Fields = dict[str, Any]

ABOUT = """Searches an index of Claude Code transcripts, as the commands of searchkit do.

Served on a Unix socket that only its owner can reach, and, where `searchkit serve --port` asked for it, on a
loopback port, which wants a token. What can be read is the same JSON that the commands print with `--json`."""
# Why something is refused; every address may.
REFUSALS = {
    "400": "A parameter makes no sense.",
    "401": "The token is missing.",
    "403": "A page from elsewhere asks.",
    "404": "There is nothing with that id.",
    "413": "The request is too large.",
    "421": "The request was meant for another host.",
    "500": "A fault of searchkit's own.",
    "503": "Too many ask at once, or the index cannot be used as it is now.",
}
_REFERENCE = "#/components/schemas/{name}"


def description() -> Fields:
    """Return all of it."""
    read = {endpoint.path: {"get": _reading_operation(endpoint)} for endpoint in (*ENDPOINTS, *PAGE_ENDPOINTS)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "searchkit", "version": __version__, "description": ABOUT},
        "paths": {
            **read,
            "/v1/health": {"get": _operation("Say who answers, at once.", Health)},
            "/v1/openapi.json": {"get": _operation("Give this description.", None)},
            "/v1/run": {"post": _run()},
            "/v1/listen": {"post": _listen()},
            "/v1/stop": {"post": _operation("End the process, after the answers under way.", Leaving)},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas() -> Fields:
    answers = dict.fromkeys(endpoint.returns for endpoint in (*ENDPOINTS, *PAGE_ENDPOINTS))
    _, components = msgspec.json.schema_components(
        [Error, Health, *answers, Port, Opened, Leaving], ref_template=_REFERENCE
    )
    return components


def _schema(kind: type[Wire]) -> Fields:
    return {"$ref": _REFERENCE.format(name=kind.__name__)}


def _reading_operation(endpoint: Endpoint) -> Fields:
    in_path = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    in_query = [_parameter(one) for one in parameters(endpoint.parameters)]
    all_parameters = (in_path if "{id}" in endpoint.path else []) + in_query
    return {**_operation(endpoint.summary, endpoint.returns), "parameters": all_parameters}


def _operation(summary: str, returns: type[Wire] | None) -> Fields:
    shape = _schema(returns) if returns else {"type": "object"}
    failed = {"application/json": {"schema": _schema(Error)}}
    return {
        "summary": summary,
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": shape}}},
            **{status: {"description": why, "content": failed} for status, why in REFUSALS.items()},
        },
    }


def _run() -> Fields:
    summary = "Run a command for `searchkit` itself. White space before the answer says that it is being worked on."
    body = {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}
    return {**_operation(summary, None), "requestBody": body}


def _listen() -> Fields:
    body = {"content": {"application/json": {"schema": _schema(Port)}}, "required": True}
    return {**_operation("Listen on a loopback port, too; 0 is any free one.", Opened), "requestBody": body}


def _parameter(parameter: Parameter) -> Fields:
    schema: Fields = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.kind == "integer":
        schema |= {"minimum": parameter.least, "maximum": parameter.most}
    if parameter.default not in (None, ""):
        schema["default"] = parameter.default
    if parameter.is_repeated:
        schema = {"type": "array", "items": schema}
    described: Fields = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": parameter.description,
        "schema": schema,
    }
    return described | ({"explode": True} if parameter.is_repeated else {})


# Too many at once, or an index that cannot be read now: worth another try after this.
RETRY_SECONDS = 1


# Says of an answer that secrets are masked in it.
HAS_MASKS = "Searchkit-Masked"


def answered(value: object, status: int = 200) -> Response:
    """Answer with JSON, whose text may be printed on a terminal as it is."""
    return written(wire.encode(value), status)


def written(text: str, status: int = 200) -> Response:
    """Answer with what is JSON already."""
    headers = {HAS_MASKS: "true"} if secrets.MARK in text else None
    return Response(text, status, headers, media_type="application/json")


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
            return await unless_gone(request.receive, _answer(service, endpoint, given, id, str(request.url)))

        return Route(endpoint.path, handle)

    return [route(endpoint) for endpoint in (*ENDPOINTS, *PAGE_ENDPOINTS)]


async def _answer(service: Service, endpoint: Endpoint, given: Parameters, id: str, url: str) -> Response:
    """Ask an engine, and read what is missing then without holding it."""

    def answer(found: object) -> str:
        # Engines and transcripts are read in other threads, each with a context of its own.
        with secrets.revealed(given.reveal):
            return wire.encode(found)

    def ask(engine: Engine) -> str | Unread:
        with secrets.revealed(given.reveal):
            found = endpoint.answer(engine, given, id)
        # Clients that asked the same share it.
        return found if isinstance(found, Unread) else answer(found)

    found = await service.engines.ask(ask, may_wait=not endpoint.is_search, same=url)
    return written(await service.transcripts.finish(found, answer) if isinstance(found, Unread) else found)


def _own(service: Service) -> list[BaseRoute]:
    """Return what is about the process itself, and what runs commands for its clients."""

    async def health(request: Request) -> Response:
        return answered(service.health())

    async def openapi(request: Request) -> Response:
        return answered(description())

    async def run_command(request: Request) -> Response:
        body = await request.body()
        asked = unless_gone(request.receive, service.engines.ask(lambda engine: run(engine, body), same=body))
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
        # The address holds a token of our own.
        with secrets.revealed():
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
