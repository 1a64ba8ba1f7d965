"""The OpenAPI description of the HTTP interface, made of the routes and the structs that they take and return."""

from typing import Any

import msgspec

from searchkit import __version__
from searchkit.render.wire.base import Error, Wire
from searchkit.render.wire.health import Health, Leaving, Opened, Port
from searchkit.server.routes import ENDPOINTS
from searchkit.web.conversation_api import PAGE_ENDPOINTS
from searchkit.web.endpoints import Endpoint, Parameter, parameters

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
    read = {endpoint.path: {"get": _reading(endpoint)} for endpoint in (*ENDPOINTS, *PAGE_ENDPOINTS)}
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


def _reading(endpoint: Endpoint) -> Fields:
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
