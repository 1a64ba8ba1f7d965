"""What the page's own answers look like, as JSON Schema."""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_MAYBE_TEXT: Schema = {"type": ["string", "null"]}
_NUMBER: Schema = {"type": "integer"}
_MAYBE_NUMBER: Schema = {"type": ["integer", "null"]}
_FLAG: Schema = {"type": "boolean"}
_MARKS: Schema = {"type": "array", "items": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}}


def _object(fields: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    properties = {**fields, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_AGENT = _object(
    {
        "agent": _TEXT,
        "session": _MAYBE_TEXT,
        "type": _MAYBE_TEXT,
        "description": _MAYBE_TEXT,
        "caller": _MAYBE_TEXT,
        "first": _TEXT,
    }
)
_BRANCH = _object(
    {
        "row": _MAYBE_NUMBER,
        "first": _TEXT,
        "records": _NUMBER,
        "ended": _MAYBE_TEXT,
        "session": _MAYBE_TEXT,
        "abandoned": _FLAG,
    }
)
_COST = _object({"usd": {"type": "number"}, "is_estimate": _FLAG, "inherited": {"type": "number"}})
_WITHOUT: Schema = {**_MAYBE_TEXT, "description": "Why no row says that it has pictures, where they cannot be read."}
_ROWS = _list({"$ref": "#/components/schemas/Row"})

SHAPES: Mapping[str, Schema] = {
    "Row": _object(
        {
            "uuid": _MAYBE_TEXT,
            "kind": {**_TEXT, "description": "A kind of part, or steps (folded), or break."},
            "text": _TEXT,
            "pictures": _list(_object({"uuid": _TEXT, "count": _NUMBER})),
        },
        {
            "steps": _NUMBER,
            "part": _TEXT,
            "role": _TEXT,
            "tool": _MAYBE_TEXT,
            "call": _MAYBE_TEXT,
            "is_error": _FLAG,
            "timestamp": _MAYBE_TEXT,
            "model": _MAYBE_TEXT,
            "cut": {**_NUMBER, "description": "Characters that are left out; /v1/parts has them."},
            "marks": _MARKS,
            "hit": _FLAG,
            "pieces": _list({"type": "object"}),
            "agent": {"anyOf": [_AGENT, {"type": "null"}]},
            "agents": {**_list(_AGENT), "description": "All that the call started; a workflow starts several."},
        },
    ),
    "Reading": _object(
        {
            "as_of": _TEXT,
            "total": _NUMBER,
            "begin": _NUMBER,
            "rows": _ROWS,
            "record": _TEXT,
            "session": _MAYBE_TEXT,
            "title": _MAYBE_TEXT,
            "project": _MAYBE_TEXT,
            "branch": _MAYBE_TEXT,
            "ended": _MAYBE_TEXT,
            "is_gone": {"type": ["boolean", "null"]},
            "cost": {"anyOf": [_COST, {"type": "null"}]},
            "resume": _MAYBE_TEXT,
            "here": _NUMBER,
            "hits": _list(_NUMBER),
            "branches": _list(_BRANCH),
            "prompts": _list(_NUMBER),
            "abandoned": _FLAG,
            "left_at": _MAYBE_NUMBER,
            "above": _list(_AGENT),
            "strays": _list(_AGENT),
            "without_pictures": _WITHOUT,
        }
    ),
    "Fold": _object({"as_of": _TEXT, "total": _NUMBER, "begin": _NUMBER, "rows": _ROWS, "without_pictures": _WITHOUT}),
    "PartText": _object({"part": _TEXT, "text": _TEXT, "marks": _MARKS}),
    "Pictures": _object({"pictures": _list(_object({"type": _TEXT, "data": _TEXT}))}),
}
