"""One transcript under construction: the records Claude Code 2.1.x writes, in its order and its chain."""

import copy
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sample.text import hexes, prose, uuid

Json = dict[str, Any]

HOME = "/home/mira"
SIGNATURE = "c2FtcGxlLXNpZ25hdHVyZQ=="
AGENT_MODEL = "claude-haiku-4-5-20251001"
# FORMAT.md section 2: progress records end with 2.1.81, attachments begin with 2.1.90.
LAST_PROGRESS = 81
FIRST_PROMPT_ID = 73
FIRST_ENTRYPOINT = 78
FIRST_AGENT_TOOL = 63
FIRST_PROMPT_SOURCE = 167
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a "
    "file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the "
    "user to tell you how to proceed."
)


class Transcript:
    """Collects the records of one session or one agent; `Session` adds the tools."""

    def __init__(
        self,
        project: str,
        key: str,
        start: str,
        *,
        release: int,
        branch: str = "main",
        model: str = "claude-opus-4-6",
        slug: str | None = None,
    ) -> None:
        self.project = project
        self.key = key
        self.session_id = uuid("session", key)
        self.agent_id: str | None = None
        self.cwd = f"{HOME}/code/{project}"
        self.release = release
        self.branch = branch
        self.model = model
        self.slug = slug
        self.now = datetime.fromisoformat(start)
        self.records: list[Json] = []
        self.marks: dict[str, str] = {}
        self.typed: list[tuple[datetime, str]] = []
        self.agents: list[Transcript] = []
        self.meta: Json = {}
        self.overflow: dict[str, str] = {}
        self.todos: list[Json] = []
        self.files: dict[str, str] = {}
        self.last_uuid = ""
        self._random = random.Random(key)
        self._count = 0
        self._parent: str | None = None
        self._blocks: list[tuple[Json, str]] = []
        self._results: list[tuple[str, str, Any, Any, bool]] = []
        self._progress: list[tuple[str, Json]] = []
        self._last_call = ""
        self._gathering = False
        self._answered_at = self.now
        self._prompt_id = ""

    def mark(self, name: str) -> None:
        """Give the last thing said, called or answered a name that a question can refer to."""
        self.marks[f"{self.key}.{name}"] = self.last_uuid

    def mark_call(self, name: str) -> None:
        """Name the last tool call; `mark` names its result."""
        self.marks[f"{self.key}.{name}"] = self._last_call

    def wait(self, *, seconds: int = 0, minutes: int = 0, hours: int = 0, days: int = 0) -> None:
        """Let time pass before the next record."""
        self.now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)

    def user(self, text: str) -> None:
        """Add what the person typed."""
        self._flush()
        text = prose(text)
        self._tick(20, 90)
        self._prompt_id = uuid(self.key, "prompt", self._count)
        record = self._user_record(text)
        self._snapshot(record["uuid"])
        self._append(record)
        self.typed.append((self.now, text))

    def say(self, text: str) -> None:
        """Add a text block to the response under way."""
        self._block({"type": "text", "text": prose(text)})

    def think(self, text: str = "") -> None:
        """Add a thinking block; without text only its signature is kept, as in later releases."""
        self._block({"type": "thinking", "thinking": prose(text), "signature": SIGNATURE})

    def call(self, name: str, input: Json, output: Any, result: Any, *, error: bool = False) -> str:
        """Add a tool call and its result, and return the call's id."""
        call_id = self.next_call_id()
        call: Json = {"type": "tool_use", "id": call_id, "name": name, "input": input}
        if self.release > LAST_PROGRESS:
            call["caller"] = {"type": "direct"}
        self._last_call = owner = self._block(call)
        self.last_uuid = self._next_uuid()
        self._results.append((owner, self.last_uuid, {"tool_use_id": call_id, "output": output}, result, error))
        if not self._gathering:
            self._flush()
        return call_id

    def next_call_id(self) -> str:
        """Return the id that the next tool call is going to have."""
        return "toolu_01" + hexes(self.key, "call", self._count, length=22)

    @contextmanager
    def parallel(self) -> Iterator[None]:
        """Gather the calls made inside into one response."""
        self._gathering = True
        yield
        self._gathering = False
        self._flush()

    def attach(self, kind: str, **content: Any) -> None:
        """Add an attachment record to the chain."""
        self._flush()
        self._append(self._record("attachment", attachment={"type": kind, **content}))

    def queued(self, text: str) -> None:
        """Add what the person typed while the assistant was at work."""
        self._flush()
        text = prose(text)
        self._tick(4, 9)
        self._queue_operation("enqueue", content=text)
        self._tick(1, 3)
        self._queue_operation("remove")
        self.attach("queued_command", prompt=text, commandMode="prompt")
        self.typed.append((self.now, text))

    def progress(self, data: Json, call_id: str) -> None:
        """Have a progress record written beside the chain, as a child of the call it belongs to."""
        self._progress.append((call_id, data))

    def system(self, subtype: str, **fields: Any) -> None:
        """Add a system record to the chain."""
        self._flush()
        self._append(self._record("system", subtype=subtype, **fields))

    def interrupt(self, *, rejected: tuple[str, Json] | None = None) -> None:
        """Stop the assistant, either while it writes or at the question whether a tool may run."""
        if rejected:
            self.call(rejected[0], rejected[1], REJECTED, "User rejected tool use", error=True)
        self._flush()
        self._tick(2, 6)
        text = "[Request interrupted by user for tool use]" if rejected else "[Request interrupted by user]"
        self._append(self._user_record([{"type": "text", "text": text}]))

    def command(self, name: str, args: str, expansion: str) -> None:
        """Add a slash command and the text it expands to."""
        self._flush()
        self._tick(20, 60)
        self._prompt_id = uuid(self.key, "prompt", self._count)
        tags = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
        record = self._user_record(f"{tags}\n<command-args>{args}</command-args>" if args else tags)
        self._snapshot(record["uuid"])
        self._append(record)
        self.typed.append((self.now, f"/{name} {args}".strip()))
        self._append({**self._user_record([{"type": "text", "text": prose(expansion)}]), "isMeta": True})

    def local_command(self, name: str, output: str) -> None:
        """Add a command that the program itself answers, without asking the model."""
        self._flush()
        self._tick(5, 20)
        caveat = "<local-command-caveat>Caveat: The messages below were generated by the user while running "
        caveat += "local commands. DO NOT respond to these messages or otherwise consider them in your response "
        caveat += "unless the user explicitly asks you to.</local-command-caveat>"
        self._append({**self._user_record(caveat), "isMeta": True})
        tags = f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>"
        self._append(self._user_record(f"{tags}\n<command-args></command-args>"))
        self._append(self._user_record(f"<local-command-stdout>{output}</local-command-stdout>"))

    def compact(self, summary: str, *, tokens: int) -> None:
        """Compact the conversation: a boundary, then the summary that replaces what came before."""
        self._flush()
        self._tick(60, 90)
        boundary = self._record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": "auto", "preTokens": tokens},
        )
        self._append({**boundary, "parentUuid": None, "logicalParentUuid": self._parent})
        opening = (
            "This session is being continued from a previous conversation that ran out of context. "
            "The summary below covers the earlier portion of the conversation.\n\n"
        )
        record = self._user_record(opening + prose(summary))
        self._append({**record, "isVisibleInTranscriptOnly": True, "isCompactSummary": True})

    def line(self, type_: str, **fields: Any) -> None:
        """Add a record without a uuid: a title, a link, a mode."""
        self._flush()
        self.records.append({"type": type_, **fields, "sessionId": self.session_id})

    def turn_over(self) -> None:
        """End the assistant's turn with the record of how long it took."""
        self._flush()
        self.system("turn_duration", durationMs=self._random.randint(9_000, 240_000), isMeta=False)

    def end(self, title: str | None = None) -> None:
        """Write what is pending, the title and the last prompt."""
        self._flush()
        if title:
            self.line("ai-title", aiTitle=title)
        if self.typed and not self.agent_id:
            self.line("last-prompt", lastPrompt=self.typed[-1][1], leafUuid=self._parent)

    def copy_from(self, other: "Transcript", upto: str) -> None:
        """Begin as a fork: take over the other session's records up to a mark, under this session's id."""
        last = other.marks[f"{other.key}.{upto}"]
        for record in other.records:
            taken = copy.deepcopy(record)
            if "sessionId" in taken:
                taken["sessionId"] = self.session_id
            if "uuid" in taken:
                taken["forkedFrom"] = {"sessionId": other.session_id, "messageUuid": taken["uuid"]}
                self._parent = taken["uuid"]
            self.records.append(taken)
            if taken.get("uuid") == last:
                return
        raise ValueError(f"{upto} is no record of {other.key}; mark one that was written already")

    def _block(self, block: Json) -> str:
        self.last_uuid = self._next_uuid()
        self._blocks.append((block, self.last_uuid))
        return self.last_uuid

    def _flush(self) -> None:
        """Write the response under way, one record per block, then the results of its calls."""
        blocks, self._blocks = self._blocks, []
        results, self._results = self._results, []
        if not blocks:
            return
        message_id = "msg_01" + hexes(self.key, "message", self._count, length=22)
        request = "req_011" + hexes(self.key, "request", self._count, length=21)
        tokens = sum(len(str(block)) for block, _ in blocks) // 4 + 12
        for index, (block, own) in enumerate(blocks):
            self._tick(2, 14)
            last = index == len(blocks) - 1
            message = self._message(message_id, block, tokens if last else min(tokens, 8), bool(results), last)
            record = self._record("assistant", own, message=message, requestId=request)
            self._append(record)
        chain = self._parent
        self.now = max(self.now, self._answered_at)
        for owner, own, answer, result, error in results:
            self._write_progress(owner, answer["tool_use_id"])
            self._tick(1, 6)
            content: Json = {"tool_use_id": answer["tool_use_id"], "type": "tool_result"}
            content["content"] = answer["output"]
            if error:
                content["is_error"] = True
            self._parent = owner
            record = self._user_record([content], own)
            if self.agent_id is None:
                record["toolUseResult"] = result
            self._append({**record, "sourceToolAssistantUUID": owner})
            chain = own
        self._parent = chain

    def _message(self, message_id: str, block: Json, tokens: int, calls: bool, last: bool) -> Json:
        cached = 14_000 + 350 * len(self.records)
        return {
            "model": self.model,
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": ("tool_use" if calls else "end_turn") if last else None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 3,
                "cache_creation_input_tokens": 350,
                "cache_read_input_tokens": cached,
                "output_tokens": tokens,
                "service_tier": "standard",
            },
        }

    def _write_progress(self, owner: str, call_id: str) -> None:
        waiting = [item for item in self._progress if item[0] == call_id]
        self._progress = [item for item in self._progress if item[0] != call_id]
        for number, (_, data) in enumerate(waiting):
            self._tick(2, 4)
            record = self._record("progress", data=data)
            record["parentUuid"] = owner
            kind = data["type"].split("_")[0]
            self.records.append({**record, "toolUseID": f"{kind}-progress-{number}", "parentToolUseID": call_id})

    def _user_record(self, content: Any, own: str | None = None) -> Json:
        record = self._record("user", own, message={"role": "user", "content": content})
        if self.release >= FIRST_PROMPT_ID and self._prompt_id:
            record["promptId"] = self._prompt_id
        if isinstance(content, str) and self.agent_id is None:
            record["permissionMode"] = "acceptEdits"
            if self.release >= FIRST_PROMPT_SOURCE:
                record["promptSource"] = "typed"
        return record

    def _record(self, type_: str, own: str | None = None, **fields: Any) -> Json:
        """Return a record with the envelope that every chained record has."""
        self.last_uuid = own or self._next_uuid()
        record: Json = {"parentUuid": self._parent, "isSidechain": self.agent_id is not None}
        if self.agent_id:
            record["agentId"] = self.agent_id
        record |= {"type": type_, **fields, "uuid": self.last_uuid, "timestamp": self._timestamp()}
        record["userType"] = "external"
        if self.release >= FIRST_ENTRYPOINT:
            record["entrypoint"] = "cli"
        record |= {"cwd": self.cwd, "sessionId": self.session_id, "version": f"2.1.{self.release}"}
        record["gitBranch"] = self.branch
        if self.slug:
            record["slug"] = self.slug
        return record

    def _append(self, record: Json) -> None:
        self.records.append(record)
        self._parent = record["uuid"]
        self.last_uuid = record["uuid"]

    def _snapshot(self, message: str) -> None:
        if self.agent_id is None:
            snapshot = {"messageId": message, "trackedFileBackups": {}, "timestamp": self._timestamp()}
            fields = {"messageId": message, "snapshot": snapshot, "isSnapshotUpdate": False}
            self.records.append({"type": "file-history-snapshot", **fields})

    def _queue_operation(self, operation: str, **fields: Any) -> None:
        start: Json = {"type": "queue-operation", "operation": operation, "timestamp": self._timestamp()}
        self.records.append({**start, "sessionId": self.session_id, **fields})

    def _next_uuid(self) -> str:
        self._count += 1
        return uuid(self.key, "record", self._count)

    def _tick(self, low: int, high: int) -> None:
        self.now += timedelta(milliseconds=self._random.randint(low * 1000, high * 1000))

    def _timestamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"
