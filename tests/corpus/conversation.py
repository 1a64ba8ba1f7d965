"""One transcript being written: its records, their chain, and what each of them means to the ledger."""

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.corpus.story import Mark, Story
from tests.corpus.world import Project, World, dumped, iso

Record = dict[str, Any]
FLUSH_BYTES = 1 << 20
YEAR_SECONDS = 31_536_000
RECENT = 4  # a boundary names one of the last so many records
MESSAGES = ("user", "assistant")
# Attachments of which each distinct text is one part, wherever it comes.
LISTINGS = ("skill_listing", "deferred_tools_delta", "total_tokens_reminder")
IDENTIFIER = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"


class Conversation:
    """A transcript file open for writing; every method writes one record, or one response, and returns it."""

    def __init__(self, world: World, path: Path, session: str, project: Project, version: str, start: int) -> None:
        self.world, self.ledger, self.text = world, world.ledger, world.text
        self.path, self.session, self.project, self.version = world.folder(path), session, project, version
        self.agent: str | None = None
        self.model = "claude-opus-4-6"
        self.language = "en"
        self.rank: int | None = None  # set for a copy that is all there is: its parts are secondary
        self.clock = start
        self.bytes = self.lines = self.torn_lines = 0
        self.last: str | None = None
        self.line_before: str | None = None
        self.recent: deque[str] = deque(maxlen=RECENT)
        self.story = Story(session)
        self.kept: list[Record] | None = None  # the records with a uuid, where a copy will be made of them
        self.kept_parts: dict[str, list[tuple[str, str]]] = {}
        self.marks: list[Mark] = []  # where each turn began
        self.asked: Mark | None = None  # after what was said first in the last turn
        self.plant: str | None = None  # the kind of part that is to hold the next planted word
        self.extra: Record = {}
        self.era = "progress"
        self.quiet = False  # no noise, agents or overflow: RULES leave open how their copies count
        self.noise: str | None = None  # while set, parts are counted as noise for this reason
        self.depth = 0
        self.agents_due = 0.0
        self.next_agent = 0
        self.prompts: list[str] = []
        self.terminated = True
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._file = self.path.open("wb")
        self.ledger.files += 1

    def record(
        self, kind: str, fields: Record, parent: str | None = "", uuid: str | None = None, is_said: bool = True
    ) -> Record:
        """Write a record with a uuid; its parent is the last one unless another (or None) is given.

        A message is what is said next, unless the caller knows better and tells the story himself.
        """
        world = self.world
        self.clock += int(world.rng.random() * 9_000) + 1
        fresh = uuid is None
        uuid = uuid or world.uuid()
        parent = self.last if parent == "" else parent
        record: Record = {"parentUuid": parent, "isSidechain": self.agent is not None, **self.extra}
        record["cwd"] = self.project.cwd
        record["sessionId"] = self.session
        record["version"] = self.version
        record["gitBranch"] = "main"
        if self.agent is not None:
            record["agentId"] = self.agent
        record["type"] = kind
        record.update(fields)
        record["uuid"] = uuid
        record["timestamp"] = iso(self.clock - (60_000 if world.rng.random() < 0.05 else 0))
        if fresh:
            self.ledger.links += 1
            self.recent.append(uuid)
            if kind in MESSAGES:
                self.ledger.messages += 1
                if is_said:
                    self.story.say(uuid)
        self.write(dumped(record))
        self.story.now.line = self.lines
        self.last = self.line_before = uuid
        if self.kept is not None:
            self.kept.append(record)
        return record

    def bare(self, record: Record, kind: str | None = None, text: str = "", rank: int | None = None) -> Record:
        """Write a record without uuid, and count its part if it makes one."""
        self.write(dumped(record))
        self.line_before = None
        if kind is not None:
            self.ledger.nameless(self.session, kind, record, text, rank)
        return record

    def torn(self, line: bytes) -> None:
        """Write a line that is no JSON object."""
        self.ledger.torn += 1
        self.torn_lines += 1
        self.write(line)
        self.line_before = None

    def write(self, line: bytes) -> None:
        self.ledger.lines += 1
        self.lines += 1
        # Only here, so that the line just written can still be changed.
        if self._buffered > FLUSH_BYTES:
            self._flush()
        self.raw(line)
        self.raw(b"\n")

    def raw(self, content: bytes) -> None:
        self._buffer.append(content)
        self._buffered += len(content)
        self.bytes += len(content)

    def swap(self) -> None:
        """Let the last two lines change places: a parent may come after its child."""
        if len(self._buffer) >= 4:
            self._buffer[-4], self._buffer[-2] = self._buffer[-2], self._buffer[-4]
            self.line_before = None

    def replace(self, old: bytes, new: bytes) -> None:
        """Change bytes of the last line, for what no JSON writer would write."""
        line = self._buffer[-2].replace(old, new)
        self.bytes += len(line) - len(self._buffer[-2])
        self._buffer[-2] = line

    def part(self, record: Record, kind: str, text: str, rank: int | None = None) -> None:
        """Tell the ledger of a part with text."""
        if self.noise is not None:
            self.ledger.noise[self.noise] += 1
            return
        self.ledger.part(self.session, kind, text, self.rank if rank is None else rank)
        if self.kept is not None and rank is None:
            self.kept_parts.setdefault(record["uuid"], []).append((kind, text))

    def planting(self, kind: str, text: str) -> tuple[str, str | None]:
        """Add the planted word to the text if this is the kind of part that awaits one."""
        if self.plant != kind:
            return text, None
        self.plant = None
        word = self.world.word()
        return f"{text} {word}", word

    def planted(self, record: Record, kind: str, word: str | None) -> None:
        if word is not None:
            entry = {"word": word, "uuid": record["uuid"], "session": self.session, "agent": self.agent}
            self.world.planted.append({**entry, "kind": kind})

    def user(self, content: Any, kind: str | None, text: str, parent: str | None = "", **extra: Any) -> Record:
        """Write a user record whose content makes one part, or none."""
        record = self.record("user", {"message": {"role": "user", "content": content}, **extra}, parent)
        if kind is not None:
            self.part(record, kind, text)
        return record

    def prompt(self, text: str, parent: str | None = "", **extra: Any) -> Record:
        return self.user(text, "prompt", text, parent, **extra)

    def result(self, call: Record, below: str, content: Any, text: str, is_error: bool = False, **extra: Any) -> Record:
        """Write the result of a call, below the record of the call; `text` is what makes a part of it."""
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": content}
        if is_error:
            block["is_error"] = True
        fields = {"message": {"role": "user", "content": [block]}, **extra}
        record = self.record("user", fields, below, is_said=False)
        self.story.answer(below, record["uuid"])
        if text:
            self.part(record, "tool_result", text)
        return record

    def response(self, blocks: list[Record], manner: str = "", **extra: Any) -> list[Record]:
        """Write one API response: a record per block, all with the same message id and usage."""
        return list(self.responding(blocks, manner, **extra))

    def responding(
        self, blocks: list[Record], manner: str = "", is_chained: bool = True, **extra: Any
    ) -> Iterator[Record]:
        """Write a response record by record, so that something can come in between.

        Each hangs off the one before or, where they are not chained, off whatever was written last.
        """
        rng = self.world.rng
        usage: Record = {
            "input_tokens": int(rng.random() * 400),
            "cache_creation_input_tokens": int(rng.random() * 9_000),
            "cache_read_input_tokens": int(rng.random() * 150_000),
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 1 + int(rng.random() * 1_500),
            "service_tier": "standard",
        }
        message: Record = {
            "model": self.model,
            "id": "msg_01" + self.token(20),
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        self.ledger.responses += 1
        extra.setdefault("requestId", "req_011" + self.token(21))
        messages = [message] * len(blocks)
        # Either all records of a response repeat the final usage, or only the last one has it.
        if len(blocks) > 1 and rng.random() < 0.4:
            early = {**message, "usage": {**usage, "output_tokens": 1}}
            messages[:-1] = [early] * (len(blocks) - 1)
        moment = self.story.respond(manner)
        before = self.last
        for sent, block in zip(messages, blocks, strict=True):
            record = self._block(sent, block, extra, before if is_chained else self.last)
            before = record["uuid"]
            self.story.add(moment, before)
            yield record

    def token(self, length: int) -> str:
        bits = self.world.rng.getrandbits(6 * length)
        letters = []
        for _ in range(length):
            letters.append(IDENTIFIER[(bits & 63) % 54])
            bits >>= 6
        return "".join(letters)

    def call(self, name: str, values: Record) -> Record:
        """Return a tool_use block with an id of its own."""
        return {"type": "tool_use", "id": "toolu_01" + self.token(22), "name": name, "input": values}

    def attachment(self, fields: Record, text: str, kind: str | None = "attachment") -> Record:
        record = self.record("attachment", {"attachment": fields})
        if kind == "attachment" and fields["type"] in LISTINGS and self.noise is None:
            self.ledger.listed(text)
        elif kind == "attachment":
            self.part(record, kind, text, 1)
        elif kind is not None:
            self.part(record, kind, text)
        return record

    def system(self, subtype: str, text: str | None, kind: str = "system", **fields: Any) -> Record:
        """Write a system record; `text` is what searchkit should make of it, None for nothing."""
        record = self.record("system", {"subtype": subtype, "level": "info", "isMeta": False, **fields})
        if text is not None:
            self.part(record, kind, text, 1)
        return record

    def progress(self, data: Record, call: Record, parent: str) -> Record:
        fields = {"data": data, "toolUseID": "bash-progress-0", "parentToolUseID": call["id"]}
        return self.record("progress", fields, parent)

    def mark(self) -> Mark:
        """Return the place where the conversation is now."""
        story = self.story
        return Mark(len(story.tellings), len(story.now.moments), self.last, len(self.kept or ()))

    def go_back(self, mark: Mark) -> None:
        """Take back what was said since a mark of the current telling: the next record hangs off its last."""
        self.story.go_back(mark.moments, self.last)
        self.last = mark.last
        self.recent.clear()
        self.marks = [earlier for earlier in self.marks if earlier.moments < mark.moments]

    def lose_parent(self) -> None:
        """Let the next record hang off one that is not there."""
        self.story.tear(self.last)
        self.last = self.world.uuid()
        self.recent.clear()
        self.marks.clear()

    @property
    def age(self) -> int:
        """The time given to the file: a year before its records, so that it is old on any clock."""
        return self.clock // 1_000 - YEAR_SECONDS

    def close(self) -> None:
        """Write what is left, give the file the time of its last record, and hand over what it told."""
        if not self.terminated and self._buffer and self._buffer[-1] == b"\n":
            self._buffer.pop()
            self.bytes -= 1
        self._flush()
        self._file.close()
        self.ledger.bytes += self.bytes
        self.world.era_bytes[self.era] += self.bytes
        os.utime(self.path, (self.age, self.age))
        self.story.agent = self.agent
        self.world.told.append(self.story)

    def _block(self, message: Record, block: Record, extra: Record, parent: str | None) -> Record:
        kind = {"text": "text", "thinking": "thinking"}.get(block["type"], "tool_call")
        word = None
        if kind != "tool_call":
            field = block["type"]
            if block[field]:
                block[field], word = self.planting(kind, block[field])
            text = block[field]
        else:
            if "description" in block["input"]:
                values = block["input"]
                values["description"], word = self.planting(kind, values["description"])
            # Leaf by leaf as RULES spell it; equality is all that the ledger wants of it.
            text = "\n".join(f"{key}: {value}" for key, value in block["input"].items()) or block["name"]
        fields = {"message": {**message, "content": [block]}, **extra}
        record = self.record("assistant", fields, parent, is_said=False)
        if text:
            self.part(record, kind, text)
        elif kind == "thinking":
            self.ledger.noise["empty_thinking"] += 1
        self.planted(record, kind, word)
        return record

    def _flush(self) -> None:
        self._file.writelines(self._buffer)
        self._buffer.clear()
        self._buffered = 0
