"""The OpenAPI description of the HTTP interface, built from the table of routes."""

from collections.abc import Mapping
from typing import Any

from searchkit import __version__
from searchkit.server.routes import ADDRESSES, Address, Parameter
from searchkit.web.feeds import FEEDS
from searchkit.web.shapes import SHAPES

Schema = dict[str, Any]


def _object(fields: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Describe an object whose fields are all there, but for the optional ones, and which has no others."""
    return {
        "type": "object",
        "properties": {**fields, **(optional or {})},
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else {"anyOf": [schema, {"type": "null"}]}


def _of(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FRACTION: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": ["string", "null"], "description": "In ISO 8601, in UTC."}
MAYBE_TEXT = _or_null(TEXT)
EMPTY_BECAUSE: Schema = {"enum": ["no_match", "filtered", "not_indexed", None]}

_WORK: Mapping[str, Schema] = {
    "responses": NUMBER,
    "calls": NUMBER,
    "failed": NUMBER,
    "tokens": _object({"input": NUMBER, "output": NUMBER, "cache_read": NUMBER, "cache_write": NUMBER}),
    "cost": _or_null({**FRACTION, "description": "In dollars."}),
    "estimated": {**FRACTION, "description": "The part of the cost that is an estimate by list prices."},
    "unpriced": {**NUMBER, "description": "Responses whose cost nobody said and whose model has no price."},
    "api_ms": _or_null({**NUMBER, "description": "How long the client waited for the model, where it says so."}),
    "output_per_second": _or_null({**FRACTION, "description": "Tokens written in a second of api_ms."}),
}
COST = _or_null(_object({"usd": FRACTION, "is_estimate": FLAG, "inherited": FRACTION}))
_FIGURES: Mapping[str, Schema] = {"sessions": NUMBER, "prompts": NUMBER, **_WORK}
_UNREAD = _object({"transcripts": NUMBER, "bytes": NUMBER})
_SHOWN: Mapping[str, Schema] = {
    "uuid": TEXT,
    "part": TEXT,
    "role": TEXT,
    "kind": TEXT,
    "tool": MAYBE_TEXT,
    "language": MAYBE_TEXT,
    "is_error": FLAG,
    "timestamp": TIME,
    "snippet": TEXT,
    "highlights": _list({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}),
}

SCHEMAS: Mapping[str, Schema] = {
    "Error": _object({"error": _object({"kind": TEXT, "message": TEXT, "hint": TEXT})}),
    "Health": _object(
        {
            "version": TEXT,
            "format": NUMBER,
            "pid": NUMBER,
            "index": TEXT,
            "roots": _list(TEXT),
            "state": _one_of("loading", "ready"),
            "since": FRACTION,
            "requests": NUMBER,
            "running": NUMBER,
            "port": _or_null(NUMBER),
        }
    ),
    "Answer": _object(
        {
            "query": _object({"text": TEXT, "mode": TEXT, "filters": {"type": "object"}}),
            "coverage": _object({"parts": NUMBER, "embedded": NUMBER, "behind": NUMBER}),
            "total": {
                **NUMBER,
                "description": "How many parts hold any of the words, or, where none does, are near in meaning; "
                "whatever the limit.",
            },
            "took_ms": NUMBER,
            "results": _list(_of("Result")),
            "empty_because": EMPTY_BECAUSE,
            "hidden_by_filters": NUMBER,
            "unseen": NUMBER,
            "missing": _list(TEXT),
            "did_you_mean": _map(_list(TEXT)),
            "respelled": _map(TEXT),
            "notes": _list(TEXT),
        },
        {"facets": _map(_map(NUMBER))},
    ),
    "Result": _object(
        {
            "rank": NUMBER,
            "score": FRACTION,
            "channels": _object({"keyword": FRACTION}, {"semantic": FRACTION}),
            **_SHOWN,
            "session": MAYBE_TEXT,
            "agent": MAYBE_TEXT,
            "also_in": _list(TEXT),
            "project": MAYBE_TEXT,
            "title": MAYBE_TEXT,
            "branch": MAYBE_TEXT,
            "model": MAYBE_TEXT,
            "thread": _list(_of("Entry")),
            "others": _list(_of("Shown")),
            "resume": MAYBE_TEXT,
        }
    ),
    "Shown": _object(_SHOWN),
    "Entry": _object(
        {
            "uuid": MAYBE_TEXT,
            "role": TEXT,
            "kind": TEXT,
            "tool": MAYBE_TEXT,
            "timestamp": TIME,
            "text": TEXT,
            "hit": FLAG,
        },
        {"cut": NUMBER, "steps": NUMBER, "agent": _of("Agent"), "thread": _list(_of("Entry"))},
    ),
    "Agent": _object(
        {
            "agent": TEXT,
            "session": MAYBE_TEXT,
            "type": MAYBE_TEXT,
            "description": MAYBE_TEXT,
            "caller": MAYBE_TEXT,
        }
    ),
    "Conversation": _object(
        {
            "session": MAYBE_TEXT,
            "title": MAYBE_TEXT,
            "project": MAYBE_TEXT,
            "branch": MAYBE_TEXT,
            "is_gone": _or_null(FLAG),
            "resume": MAYBE_TEXT,
            "agent": MAYBE_TEXT,
            "above": _list(_of("Agent")),
            "thread": _list(_of("Entry")),
            "earlier": NUMBER,
            "later": NUMBER,
            "branches": _list(
                _object(
                    {
                        "at": MAYBE_TEXT,
                        "first": TEXT,
                        "records": NUMBER,
                        "ended": TIME,
                        "session": MAYBE_TEXT,
                        "abandoned": FLAG,
                    }
                )
            ),
            "fixes": _list(
                _object(
                    {
                        "edits": NUMBER,
                        "failed_call": _of("Entry"),
                        "failed": _of("Entry"),
                        "passed_call": _of("Entry"),
                        "passed": _of("Entry"),
                    }
                )
            ),
            "also_in": _list(TEXT),
            "abandoned": FLAG,
            "left_at": MAYBE_TEXT,
        }
    ),
    "Sessions": _object({"sessions": _list(_of("Session")), "total": NUMBER}),
    "Session": _object(
        {
            "session": TEXT,
            "title": MAYBE_TEXT,
            "project": MAYBE_TEXT,
            "branch": MAYBE_TEXT,
            "started": TIME,
            "ended": TIME,
            "records": NUMBER,
            "prompts": NUMBER,
            "agents": NUMBER,
            "is_gone": FLAG,
            "cost": COST,
            "api_ms": _WORK["api_ms"],
            "output_per_second": _WORK["output_per_second"],
        }
    ),
    "Outline": _object(
        {
            "session": TEXT,
            "title": MAYBE_TEXT,
            "project": MAYBE_TEXT,
            "branch": MAYBE_TEXT,
            "started": TIME,
            "ended": TIME,
            "is_gone": FLAG,
            "resume": MAYBE_TEXT,
            "prompts": NUMBER,
            "records": NUMBER,
            **_WORK,
            "turns_ms": _or_null({**NUMBER, "description": "How long its turns took, of those that say so."}),
            "models": _list(TEXT),
            "files": _list(_object({"path": TEXT, "action": TEXT})),
            "facts": {"type": "object"},
            "ways": _list(_of("Way")),
        }
    ),
    "Way": _object(
        {
            "at": MAYBE_TEXT,
            "depth": NUMBER,
            "agent": _or_null(_of("Agent")),
            "session": MAYBE_TEXT,
            "abandoned": FLAG,
            "broken": MAYBE_TEXT,
            "turns": _list(
                _object(
                    {
                        "uuid": TEXT,
                        "timestamp": TIME,
                        "duration_ms": _or_null(NUMBER),
                        "left_out": {**NUMBER, "description": "Turns before it that are not shown; full shows them."},
                        "compacted": FLAG,
                        "asked": _or_null(_of("Entry")),
                        "steps": NUMBER,
                        "did": TEXT,
                        "outcome": _or_null(_of("Entry")),
                    }
                )
            ),
        }
    ),
    "Pack": _object(
        {
            "query": TEXT,
            "tokens": NUMBER,
            "max_tokens": NUMBER,
            "tokenizer": TEXT,
            "excerpts": _list(_of("Excerpt")),
            "empty_because": EMPTY_BECAUSE,
            "respelled": _map(TEXT),
        }
    ),
    "Excerpt": _object(
        {
            "number": NUMBER,
            "session": MAYBE_TEXT,
            "agent": MAYBE_TEXT,
            "file": TEXT,
            "uuid": TEXT,
            "part": TEXT,
            "kind": TEXT,
            "role": TEXT,
            "tool": MAYBE_TEXT,
            "is_error": FLAG,
            "timestamp": TIME,
            "project": MAYBE_TEXT,
            "branch": MAYBE_TEXT,
            "title": MAYBE_TEXT,
            "files": _list(TEXT),
            "question": MAYBE_TEXT,
            "passage": MAYBE_TEXT,
            "beside": _list(_object({"uuid": TEXT, "kind": TEXT, "tool": MAYBE_TEXT, "is_error": FLAG, "text": TEXT})),
            "steps": _list(TEXT),
            "outcome": MAYBE_TEXT,
            "score": FRACTION,
            "is_gone": FLAG,
        }
    ),
    "Facets": _object({"total": NUMBER, "respelled": _map(TEXT), "facets": _map(_map(NUMBER))}),
    "Stats": _object(
        {
            "total": _object(_FIGURES),
            "groups": _map(_list(_object({"label": MAYBE_TEXT, **_FIGURES}))),
        }
    ),
    "Status": _object(
        {
            "index": TEXT,
            "roots": _list(TEXT),
            "counts": {"type": "object"},
            "index_bytes": NUMBER,
            "behind": _or_null(_object({"files": NUMBER, "bytes": NUMBER})),
            "meaning": _object({"embedded": NUMBER, "to_embed": NUMBER}),
            "unreachable": MAYBE_TEXT,
            "damage": MAYBE_TEXT,
            "retention": _or_null(
                _object(
                    {
                        "is_calm": FLAG,
                        "first_due": TIME,
                        "overdue": NUMBER,
                        "unread": _UNREAD,
                        "kept": NUMBER,
                        "setting": TEXT,
                        "command": MAYBE_TEXT,
                        "sentences": _list(TEXT),
                        "roots": _list(
                            _object(
                                {
                                    "root": TEXT,
                                    "settings": TEXT,
                                    "days": NUMBER,
                                    "is_set": FLAG,
                                    "faults": _list(_object({"file": TEXT, "message": TEXT, "hint": TEXT})),
                                    "last_sweep": TIME,
                                    "transcripts": NUMBER,
                                    "first_due": TIME,
                                    "overdue": NUMBER,
                                    "unread": _UNREAD,
                                }
                            )
                        ),
                    }
                )
            ),
        }
    ),
    "Port": _object({"port": {"type": "integer", "minimum": 0, "maximum": 65535}}),
    "Opened": _object({"port": NUMBER, "address": TEXT}),
    "Leaving": _object({"pid": NUMBER}),
}


# The description of the HTTP interface in OpenAPI, built from the tables that the process answers by.

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


def description() -> Fields:
    """Return all of it."""
    read = {address.path: {"get": _reading(address)} for address in (*ADDRESSES, *FEEDS)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "searchkit", "version": __version__, "description": ABOUT},
        "paths": {
            **read,
            "/v1/health": {"get": _operation("Say who answers, at once.", "Health")},
            "/v1/openapi.json": {"get": _operation("Give this description.", None)},
            "/v1/run": {"post": _run()},
            "/v1/listen": {"post": _listen()},
            "/v1/stop": {"post": _operation("End the process, after the answers under way.", "Leaving")},
        },
        "components": {
            "schemas": {**SCHEMAS, **SHAPES},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _reading(address: Address) -> Fields:
    in_path = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    parameters = (in_path if "{id}" in address.path else []) + [_parameter(one) for one in address.parameters]
    return {**_operation(address.summary, address.schema), "parameters": parameters}


def _operation(summary: str, schema: str | None) -> Fields:
    shape = {"$ref": f"#/components/schemas/{schema}"} if schema else {"type": "object"}
    failed = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
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
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Port"}}}, "required": True}
    return {**_operation("Listen on a loopback port, too; 0 is any free one.", "Opened"), "requestBody": body}


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
    told: Fields = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "description": parameter.explained,
        "schema": schema,
    }
    return told | ({"explode": True} if parameter.is_repeated else {})
