"""What stands around a message of the protocol: JSON-RPC, who asks, and what HTTP wants to be told beside it."""

import json
import os

from searchkit.sources import apps

# As `typing` has it, which takes a while to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
# Where a client says who it is, among what the protocol calls _meta.
CALLER = "searchkit/caller"
# From 2026-07-28 on every request says its version, and HTTP has some of the request in its headers, too.
_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def caller(environment: "Mapping[str, str]") -> "dict[str, object]":
    """Return what is known of the agent that a process was started by: it may have another session open by now."""
    session = apps.current_session(environment)
    try:
        directory = apps.current_directory(environment) or os.getcwd()
    except OSError:
        directory = ""
    return {"started_in": session, "process": os.getppid(), "cwd": directory}


def stamped(message: "dict[str, Any]", caller: "Mapping[str, object]") -> "dict[str, Any]":
    """Say in a call who asks, unless it says so itself."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return message
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    return {**message, "params": {**params, "_meta": {CALLER: dict(caller), **meta}}}


def headers(message: "Mapping[str, Any]", agreed: str | None) -> "dict[str, str]":
    """Return the headers that a message is sent with over HTTP."""
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    if not isinstance(version, str):
        return {**sent, "MCP-Protocol-Version": agreed} if agreed else sent
    sent["MCP-Protocol-Version"] = _encoded(version)
    sent["Mcp-Method"] = _encoded(message["method"])
    name = params.get(_NAMED.get(message["method"], ""))
    return {**sent, "Mcp-Name": _encoded(name)} if isinstance(name, str) else sent


def answer(message: "Mapping[str, Any]", body: bytes) -> "dict[str, Any] | None":
    """Read the answer to a message, or return None where that is none; it bears the number of the message."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    if not isinstance(found, dict) or not ("result" in found or "error" in found) or "jsonrpc" not in found:
        return None
    return {**found, "id": message["id"]}


def is_answer(body: bytes) -> bool:
    """Say whether a body is an answer of the protocol, if only an error."""
    return answer({"id": None}, body) is not None


def error(id: object, code: int, said: str) -> "dict[str, Any]":
    """Make the answer that says what is wrong."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": said}}


def agreed(answer: "Mapping[str, Any]") -> str | None:
    """Return the version that the answer to `initialize` settles on."""
    result = answer.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) else None


def cancelled(message: "Mapping[str, Any]") -> object:
    """Return the number of the request that a notification takes back."""
    params = message.get("params")
    number = params.get("requestId") if isinstance(params, dict) else None
    return number if isinstance(number, (int, str)) else None


def _encoded(value: str) -> str:
    """Write a value so that it survives a header, the way the protocol has it."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?"):
        return value
    # Few names need it.
    from base64 import b64encode

    return f"=?base64?{b64encode(value.encode()).decode()}?="
