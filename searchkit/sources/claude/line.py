"""What is picked from a line: the fields that place a record, typed, the rest left unread.

Decoding straight into this struct skips what nobody searches (a fifth of all bytes is
`toolUseResult`). A line that does not fit the types, because it is damaged or from a version
nobody has seen, is decoded to a plain object and picked from field by field: it never raises.
"""

import json
from typing import Annotated, Any

import msgspec

from searchkit.sources.json_values import MOST_ID, identity, mapping, text
from searchkit.sources.jsonl import decode
from searchkit.sources.salvage import flatten

NOTHING = msgspec.Raw()
# A line with a longer one does not fit the types.
Id = Annotated[str, msgspec.Meta(max_length=MOST_ID)]


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """The usage of a response, as far as it is kept."""

    input_tokens: Any = 0
    output_tokens: Any = 0
    cache_read_input_tokens: Any = 0
    cache_creation_input_tokens: Any = 0
    cache_creation: Any = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """The message of a user or assistant record."""

    id: str | None = None
    model: str | None = None
    content: Any = None
    usage: Tokens | None = None


class Envelope(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields of a line that place and link its record."""

    type: str = "(none)"
    uuid: Id | None = None
    parent_uuid: Id | None = None
    logical_parent_uuid: Id | None = None
    session_id: Id | None = None
    # The session that asked for a response; another one than its own in the copies that a fork begins with.
    request_session: Id | None = msgspec.field(default=None, name="requestSessionId")
    agent_id: Id | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    slug: str | None = None
    subtype: str | None = None
    plan_content: str | None = None
    source_tool_assistant: Id | None = msgspec.field(default=None, name="sourceToolAssistantUUID")
    source_tool_use: Id | None = msgspec.field(default=None, name="sourceToolUseID")
    parent_tool_use: Id | None = msgspec.field(default=None, name="parentToolUseID")
    tool_use: Id | None = msgspec.field(default=None, name="toolUseID")
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    holds_persons_words: bool | None = None
    prompt_source: str | None = None
    turn_origin: str | None = None
    cost: float | int | None = msgspec.field(default=None, name="costUSD")
    message: Message | str | None = None
    origin: msgspec.Raw = NOTHING
    forked_from: msgspec.Raw = NOTHING
    tool_use_result: msgspec.Raw = NOTHING
    attachment: msgspec.Raw = NOTHING
    data: msgspec.Raw = NOTHING


class ProgressHead(msgspec.Struct, frozen=True, gc=False):
    """What tells one kind of progress from another."""

    type: str | None = None
    agent: Id | None = msgspec.field(default=None, name="agentId")


def open_envelope(line: bytes) -> Envelope | None:
    """Decode a line; None where it is no object."""
    try:
        return _DECODE(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        data = decode(line)
    if data is None:
        return None
    try:
        return _picked(data)
    except RecursionError:
        # Between what orjson decodes (1,024 levels) and what json encodes (1,000, less those of the callers).
        return _picked(decode(flatten(line) or b"") or {})


def unpack(raw: msgspec.Raw) -> dict[str, object]:
    """Decode a field that was left unread; empty where it is absent or no object."""
    return (decode(bytes(raw)) or {}) if raw else {}


def progress_head(data: msgspec.Raw) -> ProgressHead:
    """Decode what tells of which kind a progress record's data is."""
    try:
        return _DECODE_PROGRESS(data) if data else ProgressHead()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fields = unpack(data)
        return ProgressHead(text(fields.get("type")), identity(fields.get("agentId")))


def _picked(data: dict[str, object]) -> Envelope:
    fields: dict[str, Any] = {}
    for name, key in _KEYS.items():
        value = data.get(key)
        if name in _RAW:
            if isinstance(value, dict):
                fields[name] = _packed(value)
        elif name in _FLAGS:
            fields[name] = value is True
        elif name not in ("message", "timestamp", "cost", "type"):
            fields[name] = identity(value) if name in _IDS else text(value)
    message = data.get("message")
    content = mapping(message)
    tokens = mapping(content.get("usage"))
    usage = Tokens(*(tokens.get(field, 0) for field in Tokens.__struct_fields__)) if tokens else None
    stamp, cost = data.get("timestamp"), data.get("costUSD")
    return Envelope(
        type=text(data.get("type")) or "(none)",
        timestamp=stamp if isinstance(stamp, (str, int, float)) else None,
        cost=cost if isinstance(cost, (int, float)) else None,
        message=Message(text(content.get("id")), text(content.get("model")), content.get("content"), usage)
        if isinstance(message, dict)
        else text(message),
        **fields,
    )


def _packed(value: dict[str, object]) -> msgspec.Raw:
    """Encode a field again; json knows numbers and depths that orjson refuses."""
    return msgspec.Raw(json.dumps(value).encode())


_DECODE = msgspec.json.Decoder(Envelope).decode
_DECODE_PROGRESS = msgspec.json.Decoder(ProgressHead).decode
_KEYS = dict(zip(Envelope.__struct_fields__, Envelope.__struct_encode_fields__, strict=True))
_RAW = frozenset({"origin", "forked_from", "tool_use_result", "attachment", "data"})
_IDS = frozenset(
    {"uuid", "parent_uuid", "logical_parent_uuid", "session_id", "agent_id", "request_session"}
) | frozenset({"source_tool_assistant", "source_tool_use", "parent_tool_use", "tool_use"})
_FLAGS = frozenset({"is_sidechain", "is_meta", "is_compact_summary", "is_api_error_message", "holds_persons_words"})
