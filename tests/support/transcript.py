"""Write transcripts by hand: each call appends one record to a JSONL file and returns it.

uuids, ids and times are counted, so the same calls always write the same bytes.
"""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

Record = dict[str, Any]
BEGIN = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 1_000, "output_tokens": 20}


class Transcript:
    """A transcript that grows; every record hangs below the one before unless `parent` says otherwise."""

    def __init__(
        self,
        path: Path,
        session: str,
        *,
        agent: str | None = None,
        cwd: str = "/home/mira/src/shop",
        branch: str = "main",
        version: str = "2.1.100",
        model: str = "claude-opus-4-6",
    ) -> None:
        self.path, self.session, self.agent = path, session, agent
        self.cwd, self.branch, self.version, self.model = cwd, branch, version, model
        self.last: str | None = None
        self._count = 0
        self._message = 0
        self._seed = f"{session}/{agent}/{path.name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def prompt(self, text: str | list[Record], **extra: Any) -> Record:
        """Append what a person typed: a string, or a list of blocks."""
        self._message += 1
        return self._append("user", {"message": {"role": "user", "content": text}}, extra)

    def text(self, text: str, **extra: Any) -> Record:
        """Append a text block of the current response; a prompt or a result begins the next response."""
        return self._assistant({"type": "text", "text": text}, extra)

    def thinking(self, text: str, **extra: Any) -> Record:
        block = {"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}
        return self._assistant(block, extra)

    def call(self, name: str, values: Record | None = None, **extra: Any) -> Record:
        """Append a tool call; `tool_id(record)` is the id its result refers to."""
        block = {"type": "tool_use", "id": f"toolu_{self._next_id()[:20]}", "name": name, "input": values or {}}
        return self._assistant(block, extra)

    def result(self, call: Record, content: Any, is_error: bool = False, **extra: Any) -> Record:
        """Append the result of a call, below the call itself as Claude Code does."""
        self._message += 1
        block = {"type": "tool_result", "tool_use_id": tool_id(call), "content": content}
        if is_error:
            block["is_error"] = True
        extra = {"parent": call["uuid"], "sourceToolAssistantUUID": call["uuid"], **extra}
        return self._append("user", {"message": {"role": "user", "content": [block]}}, extra)

    def attachment(self, kind: str, /, **fields: Any) -> Record:
        """Append an attachment of that type, such as queued_command."""
        return self._append("attachment", {"attachment": {"type": kind, **fields}}, {})

    def system(self, subtype: str, **fields: Any) -> Record:
        return self._append("system", {"subtype": subtype, "level": "info"}, fields)

    def progress(self, data: Record, call: Record, **extra: Any) -> Record:
        """Append progress of a call, below it."""
        fields = {"data": data, "toolUseID": f"progress-{self._count}", "parentToolUseID": tool_id(call)}
        return self._append("progress", fields, {"parent": call["uuid"], **extra})

    def compact(self, summary: str, logical_parent: str | None = None) -> Record:
        """Append a compaction boundary and its summary; return the summary.

        The logical parent is the last record unless another uuid is given, which may name nothing.
        """
        fields = {
            "parent": None,
            "content": "Conversation compacted",
            "logicalParentUuid": logical_parent or self.last,
            "compactMetadata": {"trigger": "auto", "preTokens": 155_000},
        }
        self.system("compact_boundary", **fields)
        return self.prompt(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def line(self, record: Record) -> Record:
        """Append any record as it is; nothing is added to it, and the chain does not move."""
        self.raw(orjson.dumps(record) + b"\n")
        return record

    def raw(self, content: bytes) -> None:
        """Append bytes: half a line, a torn one, anything."""
        with self.path.open("ab") as file:
            file.write(content)

    def _assistant(self, block: Record, extra: Record) -> Record:
        message = {
            "model": self.model,
            "id": f"msg_{self._digest(f'message {self._message}')[:20]}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "usage": USAGE,
        }
        return self._append("assistant", {"message": message}, extra)

    def _append(self, kind: str, fields: Record, extra: Record) -> Record:
        """Write a record; in `extra`, `parent`, `uuid` and `timestamp` replace what would be counted."""
        extra = dict(extra)
        identifier = self._next_id()
        uuid = f"{identifier[:8]}-{identifier[8:12]}-4{identifier[13:16]}-a{identifier[17:20]}-{identifier[20:32]}"
        when = BEGIN + timedelta(seconds=self._count)
        record: Record = {
            "parentUuid": extra.pop("parent", self.last),
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": self.branch,
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        if self.agent is not None:
            record["agentId"] = self.agent
        record.update(extra)
        self.line(record)
        self.last = record["uuid"]
        return record

    def _next_id(self) -> str:
        self._count += 1
        return self._digest(str(self._count))

    def _digest(self, name: str) -> str:
        return hashlib.sha256(f"{self._seed}/{name}".encode()).hexdigest()


class Home:
    """A root as Claude Code lays it out: projects/, subagents/ and the files beside them."""

    def __init__(self, root: Path, cwd: str = "/home/mira/src/shop") -> None:
        self.root, self.cwd = root, cwd
        self.project(cwd).mkdir(parents=True, exist_ok=True)

    def project(self, cwd: str | None = None) -> Path:
        """Return the directory of a project; its name cannot be turned back into the path."""
        return self.root / "projects" / re.sub("[^A-Za-z0-9]", "-", cwd or self.cwd)

    def session(self, session: str, cwd: str | None = None, **settings: Any) -> Transcript:
        """Begin the transcript of a session."""
        path = self.project(cwd) / f"{session}.jsonl"
        return Transcript(path, session, cwd=cwd or self.cwd, **settings)

    def agent(
        self, session: str, agent: str, *, below: str = "{session}/subagents", cwd: str | None = None, **settings: Any
    ) -> Transcript:
        """Begin the transcript of an agent; `below=""` is the old layout, beside the session."""
        folder = self.project(cwd) / below.format(session=session)
        return Transcript(folder / f"agent-{agent}.jsonl", session, agent=agent, cwd=cwd or self.cwd, **settings)

    def meta(self, session: str, agent: str, **fields: Any) -> Path:
        """Write the meta.json of an agent; without fields it is empty, as after a crash."""
        content = orjson.dumps(fields) if fields else b""
        return self.write(self.project() / session / "subagents" / f"agent-{agent}.meta.json", content)

    def overflow(self, session: str, name: str, text: str) -> Path:
        """Write the file that a <persisted-output> result names."""
        return self.write(self.project() / session / "tool-results" / name, text)

    def history(self, display: str, session: str | None = None, timestamp: int = 1_772_359_200_000) -> None:
        """Append a line to history.jsonl; old lines have no session."""
        record: Record = {"display": display, "pastedContents": {}, "timestamp": timestamp, "project": self.cwd}
        if session is not None:
            record["sessionId"] = session
        with (self.root / "history.jsonl").open("ab") as file:
            file.write(orjson.dumps(record) + b"\n")

    def todos(self, session: str, items: list[Record], agent: str | None = None) -> Path:
        name = f"{session}-agent-{agent or session}.json"
        return self.write(self.root / "todos" / name, orjson.dumps(items))

    def task(self, session: str, number: int, subject: str, **fields: Any) -> Path:
        task = {"id": str(number), "subject": subject, "description": "", "status": "pending", **fields}
        return self.write(self.root / "tasks" / session / f"{number}.json", orjson.dumps(task))

    def plan(self, name: str, text: str) -> Path:
        return self.write(self.root / "plans" / f"{name}.md", text)

    def memory(self, name: str, text: str) -> Path:
        return self.write(self.project() / "memory" / f"{name}.md", text)

    def index(self, entries: list[Record]) -> Path:
        """Write the sessions-index.json of the project."""
        content = {"version": 1, "entries": entries, "originalPath": self.cwd}
        return self.write(self.project() / "sessions-index.json", orjson.dumps(content))

    def write(self, path: Path, content: bytes | str) -> Path:
        """Write any file, with the directories it needs."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def tool_id(call: Record) -> str:
    """Return the toolu id of a record that `Transcript.call` wrote."""
    return str(call["message"]["content"][0]["id"])
