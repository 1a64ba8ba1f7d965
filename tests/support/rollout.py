"""Write rollouts of Codex by hand: each call appends a line to a JSONL file and returns its payload."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Payload = dict[str, Any]
BEGIN = datetime(2026, 4, 1, 8, 0, tzinfo=UTC)
CWD = "/home/mira/src/kiln"


class CodexHome:
    """A home of Codex: rollouts below it, and the history of prompts."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sessions").mkdir(parents=True, exist_ok=True)

    def rollout(self, session: str, *, day: int = 1, has_meta: bool = True, **meta: Any) -> "Rollout":
        """Begin a rollout with its head."""
        directory = self.root / "sessions" / "2026" / "04" / f"{day:02}"
        directory.mkdir(parents=True, exist_ok=True)
        rollout = Rollout(directory / f"rollout-2026-04-{day:02}T08-00-00-{session}.jsonl", session, day)
        if has_meta:
            rollout.meta(**meta)
        return rollout

    def history(self, session: str, text: str, time: datetime = BEGIN) -> None:
        """Append what was typed to the history."""
        line = {"session_id": session, "ts": int(time.timestamp()), "text": text}
        with (self.root / "history.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Rollout:
    """A rollout that grows."""

    def __init__(self, path: Path, session: str, day: int = 1) -> None:
        self.path, self.session = path, session
        self._time = BEGIN + timedelta(days=day - 1)
        self._count = 0

    def line(self, type: str, payload: Payload) -> Payload:
        """Append a line of any type."""
        self._time += timedelta(seconds=1)
        stamp = self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.raw((json.dumps({"timestamp": stamp, "type": type, "payload": payload}) + "\n").encode())
        return payload

    def raw(self, content: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as file:
            file.write(content)

    def meta(self, **fields: Any) -> Payload:
        """Append the head."""
        head = {
            "id": self.session,
            "timestamp": "2026-04-01T08:00:00.000Z",
            "cwd": CWD,
            "originator": "codex_cli_rs",
            "cli_version": "0.149.0",
            "source": "cli",
            "git": {"commit_hash": "0" * 40, "branch": "glaze", "repository_url": "git@example.org:kiln.git"},
        }
        return self.line("session_meta", {**head, **fields})

    def turn(self, turn: str, model: str = "gpt-5-codex", **fields: Any) -> Payload:
        """Begin a turn."""
        self.event("task_started", turn_id=turn)
        return self.line("turn_context", {"turn_id": turn, "cwd": CWD, "model": model, **fields})

    def item(self, type: str, **fields: Any) -> Payload:
        """Append an item of a response."""
        return self.line("response_item", {"type": type, **fields})

    def event(self, type: str, **fields: Any) -> Payload:
        """Append an event."""
        return self.line("event_msg", {"type": type, **fields})

    def prompt(self, text: str) -> Payload:
        """Append what a person typed, as an item and as an event."""
        item = self.item("message", role="user", content=[{"type": "input_text", "text": text}])
        self.event("user_message", message=text, kind="plain")
        return item

    def wrapped(self, text: str, role: str = "user") -> Payload:
        """Append what the client puts into the conversation."""
        return self.item("message", role=role, content=[{"type": "input_text", "text": text}])

    def text(self, text: str) -> Payload:
        """Append what the assistant wrote, as an event and as an item."""
        self.event("agent_message", message=text)
        return self.item("message", role="assistant", content=[{"type": "output_text", "text": text}])

    def thinking(self, text: str) -> Payload:
        """Append a thought, of which the summary can be read."""
        self.event("agent_reasoning", text=text)
        summary = [{"type": "summary_text", "text": text}] if text else []
        return self.item("reasoning", summary=summary, content=None, encrypted_content="gAAAAABpZmVycmV0")

    def call(self, name: str, arguments: Any, **fields: Any) -> str:
        """Append a call, and return its id."""
        call = self._next_call()
        self.item("function_call", name=name, arguments=json.dumps(arguments), call_id=call, **fields)
        return call

    def patch(self, text: str) -> str:
        """Append a call of the tool that takes a patch as it is, and return its id."""
        call = self._next_call()
        self.item("custom_tool_call", status="completed", call_id=call, name="apply_patch", input=text)
        return call

    def result(self, call: str, output: Any, type: str = "function_call_output") -> Payload:
        """Append the result of a call."""
        return self.item(type, call_id=call, output=output)

    def usage(self, total: int, input: int, cached: int, output: int) -> Payload:
        """Append what the response cost that has just ended."""
        last = {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output}
        last |= {"reasoning_output_tokens": 0, "total_tokens": input + output}
        info = {"total_token_usage": {**last, "total_tokens": total}, "last_token_usage": last}
        return self.event("token_count", info=info, rate_limits=None)

    def _next_call(self) -> str:
        self._count += 1
        return f"call_{self.session[:4]}{self._count:04}"
