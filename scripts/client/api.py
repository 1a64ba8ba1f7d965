"""A Messages API on loopback that plays the model by a script, and remembers what it was asked and what it counted.

A prompt carries a mark such as `[[tools]]`. The last mark of a conversation names the script, and the number of
assistant messages behind it the step, so that the server keeps no state of its own for a conversation.
"""

import json
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

MARK = re.compile(r"\[\[([a-z0-9_-]+)\]\]")
# Long texts are streamed in pieces of so many characters.
PIECE_CHARS = 400
LONGEST_DELAY_SECONDS = 30.0
DONE = "Done."

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of the model: blocks, or for the first `failures` requests an error with that status."""

    blocks: Sequence[Json] = ()
    status: int = 0
    failures: int = 1
    delay_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A response that was sent to its end, and the tokens that it named."""

    id: str
    session: str
    script: str
    step: int
    model: str
    usage: Mapping[str, int]
    calls: Sequence[str]


# A script is a list of answers, or a function of the number of the step and the request.
Script = Sequence[Reply] | Callable[[int, Json], Reply]


def text(words: str) -> Json:
    """Return a block of text."""
    return {"type": "text", "text": words}


def thinking(words: str) -> Json:
    """Return a block of thinking."""
    return {"type": "thinking", "thinking": words, "signature": "c2lnbmF0dXJl"}


def call(name: str, /, **input: object) -> Json:
    """Return a call of a tool; its id is given when it is sent."""
    return {"type": "tool_use", "name": name, "input": input}


def results(request: Json) -> list[Json]:
    """Return the results of tools that came after the last answer."""
    found: list[Json] = []
    for message in reversed(request["messages"]):
        if message.get("role") == "assistant":
            break
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        found = [block for block in blocks if block.get("type") == "tool_result"] + found
    return found


def say(*blocks: Json | str) -> Reply:
    """Return an answer of these blocks; strings are texts."""
    return Reply(blocks=[text(block) if isinstance(block, str) else block for block in blocks])


@dataclass
class ScriptedApi:
    """The server: scripts by their marks, what it was asked, what it sent."""

    scripts: dict[str, Script] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)
    title: str = "Scripted title"
    asked: list[Json] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Listen on a free port of loopback; no request is answered before `start`."""
        self._lock = threading.Lock()
        self._counted = self._titled = 0
        self._failed: Counter[tuple[str, int]] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        """Answer requests, in threads, until `close`."""
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def reached(self, script: str, step: int = 0) -> bool:
        """Say whether a step of a script was sent to its end."""
        with self._lock:
            return any(one.script == script and one.step >= step for one in self.sent)

    def session_of(self, script: str) -> str | None:
        """Return the session in which a script was last played."""
        with self._lock:
            return next((one.session for one in reversed(self.sent) if one.script == script), None)

    def answer(self, request: Json) -> tuple[Reply, str, int]:
        """Choose what to answer, with the script and the step that it is of."""
        with self._lock:
            self.asked.append(request)
        messages = request.get("messages") or []
        if special := self._special(request, messages):
            return special
        name, step = place(messages)
        script = self.scripts.get(name)
        if script is None:
            with self._lock:
                self.unknown[name] += 1
            return say(DONE), name, step
        reply = script(step, request) if callable(script) else next(iter(script[step : step + 1]), say(DONE))
        with self._lock:
            if reply.status and self._failed[name, step] >= reply.failures:
                return Reply(blocks=reply.blocks), name, step
            self._failed[name, step] += bool(reply.status)
        return reply, name, step

    def _special(self, request: Json, messages: Sequence[Json]) -> tuple[Reply, str, int] | None:
        """Answer what the client asks on its own account: summaries of compactions, and titles."""
        last = _texts(messages[-1]) if messages else ""
        if "detailed summary of" in last and "<summary>" in last:
            with self._lock:
                words = self.summaries.pop(0) if self.summaries else "Nothing of note."
            return say(f"<analysis>Looked at all of it.</analysis>\n<summary>\n{words}\n</summary>"), "(summary)", 0
        wanted = request.get("output_config") or {}
        schema = (wanted.get("format") or {}).get("schema") or {}
        if "title" in (schema.get("properties") or {}) and not request.get("tools"):
            with self._lock:
                self._titled += 1
                title = f"{self.title} {self._titled}"
            return say(json.dumps(dict.fromkeys(schema["properties"], title))), "(title)", 0
        return None

    def note(self, sent: Sent) -> None:
        """Remember a response that was sent to its end."""
        with self._lock:
            self.sent.append(sent)

    def usage(self) -> dict[str, int]:
        """Make up the tokens of a response; no two are alike, so that sums tell which are in them."""
        with self._lock:
            self._counted += 1
            number = self._counted
        return {
            "input_tokens": 100 + 7 * number,
            "cache_creation_input_tokens": 10 + 3 * number,
            "cache_read_input_tokens": 20 + 11 * number,
            "output_tokens": 5 + number,
        }


def place(messages: Sequence[Json]) -> tuple[str, int]:
    """Return the last mark that a user wrote, and how many answers stand behind it."""
    answers = 0
    for message in reversed(messages):
        if message.get("role") == "assistant":
            answers += 1
        elif marks := MARK.findall(_texts(message)):
            return marks[-1], answers
    return "", answers


def events(reply: Reply, id: str, model: str, usage: Mapping[str, int]) -> Iterator[tuple[str, Json]]:
    """Yield a response as the events of a stream, as the public API documents them."""
    has_calls = any(block["type"] == "tool_use" for block in reply.blocks)
    message: Json = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
    }
    yield "message_start", {"message": {**message, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}}
    for number, block in enumerate(reply.blocks):
        start, deltas = _streamed(block)
        yield "content_block_start", {"index": number, "content_block": start}
        for delta in deltas:
            yield "content_block_delta", {"index": number, "delta": delta}
        yield "content_block_stop", {"index": number}
    stop = {"stop_reason": "tool_use" if has_calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": dict(usage)}
    yield "message_stop", {}


def _streamed(block: Json) -> tuple[Json, list[Json]]:
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": one} for one in _pieces(block["text"])]
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": one} for one in _pieces(block["thinking"])]
        signature = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    if kind == "tool_use":
        start = {"type": kind, "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": block["name"], "input": {}}
        written = json.dumps(block["input"])
        return start, [{"type": "input_json_delta", "partial_json": one} for one in _pieces(written)]
    return block, []


def _pieces(words: str) -> list[str]:
    return [words[at : at + PIECE_CHARS] for at in range(0, len(words), PIECE_CHARS)] or [""]


def _texts(message: Json) -> str:
    """Return what a message says, without results of tools, which may quote marks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or () if block.get("type") == "text")


def _session(request: Json) -> str:
    """Return the session that the client names in the metadata of a request."""
    try:
        return str(json.loads(request["metadata"]["user_id"])["session_id"])
    except (KeyError, TypeError, ValueError):
        return ""


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for the server."""

    protocol_version = "HTTP/1.1"
    api: ScriptedApi

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self._send(404, {"type": "error", "error": {"type": "not_found_error", "message": "not here"}})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = cast(Json, json.loads(body))
        except ValueError:
            self._send(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "no JSON"}})
            return
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send(200, {"input_tokens": len(body) // 4})
        elif path.endswith("/messages"):
            self._answer(request)
        else:
            self._send(404, {"type": "error", "error": {"type": "not_found_error", "message": "not here"}})

    def _answer(self, request: Json) -> None:
        reply, script, step = self.api.answer(request)
        time.sleep(min(reply.delay_seconds, LONGEST_DELAY_SECONDS))
        if reply.status:
            kinds = {429: "rate_limit_error", 529: "overloaded_error", 400: "invalid_request_error"}
            error = {"type": kinds.get(reply.status, "api_error"), "message": f"scripted {reply.status}"}
            self._send(reply.status, {"type": "error", "error": error})
            return
        id, model, usage = f"msg_{uuid.uuid4().hex[:24]}", str(request.get("model")), self.api.usage()
        stream = events(reply, id, model, usage)
        try:
            if request.get("stream"):
                self._stream(stream)
            else:
                self._send(200, _whole(stream, usage))
        except (BrokenPipeError, ConnectionResetError):
            return
        calls = [block["name"] for block in reply.blocks if block["type"] == "tool_use"]
        session = _session(request)
        self.api.note(Sent(id=id, session=session, script=script, step=step, model=model, usage=usage, calls=calls))

    def _stream(self, stream: Iterator[tuple[str, Json]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in stream:
            self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, value: Json) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status in (429, 529):
            self.send_header("retry-after", "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: what was asked is remembered."""


def _whole(stream: Iterator[tuple[str, Json]], usage: Mapping[str, int]) -> Json:
    """Put a stream together to the message that it spells."""
    message: Json = {}
    for name, data in stream:
        if name == "message_start":
            message = data["message"]
        elif name == "content_block_start":
            message["content"].append(dict(data["content_block"]))
        elif name == "content_block_delta":
            _add(message["content"][data["index"]], data["delta"])
        elif name == "message_delta":
            message |= data["delta"]
    for block in message["content"]:
        if "partial_json" in block:
            block["input"] = json.loads(block.pop("partial_json"))
    return {**message, "usage": dict(usage)}


def _add(block: Json, delta: Json) -> None:
    for name in ("text", "thinking", "signature", "partial_json"):
        if name in delta:
            block[name] = block.get(name, "") + delta[name]
