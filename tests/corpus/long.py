"""One very long session: prompts, texts, calls and results, with compactions, ways that were left, and failures."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from tests.support.transcript import USAGE

Record = dict[str, Any]

SESSION = "10ad0000-0000-4000-8000-000000000000"
DIRECTORY = "/home/mira/src/atlas"
# How often something happens, in turns. A day of work is some 100 turns; a context holds about 60, and every ten or so
# the program ends and notes what was asked last.
COMPACTED_EVERY, LEFT_EVERY, STOPPED_EVERY, NOTED_EVERY = 60, 90, 35, 10
# In calls: a response with several calls, and one that fails and is mended a few calls later.
PARALLEL_EVERY, FAILING_EVERY, MENDED_AFTER = 7, 23, 4
# A turn has from one call to this many.
MOST_CALLS = 9
FLUSH_RECORDS = 5_000
# 1 March 2026, and the seconds between two records.
BEGIN_MILLISECONDS, BETWEEN_MILLISECONDS = 1_772_359_200_000, 7_000

SUBJECTS = "harbour lantern orchard glacier compass meadow violin saffron beacon granite".split()
DEEDS = "rename split measure document simplify cache validate paginate retry translate".split()


class Long(NamedTuple):
    """What was written: the transcript, its session, and the uuids of its prompts and its last texts, in order."""

    path: Path
    session: str
    prompts: list[str]
    answers: list[str]


def write_long(root: Path, records: int, session: str = SESSION) -> Long:
    """Write a session of so many records below a root, the same for the same number."""
    path = root / "projects" / DIRECTORY.replace("/", "-") / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    told = _Told(session)
    with path.open("wb") as file:
        buffer: list[bytes] = []
        for number, record in enumerate(told.records(records), 1):
            buffer.append(orjson.dumps(record))
            if not number % FLUSH_RECORDS:
                file.write(b"\n".join([*buffer, b""]))
                buffer.clear()
        file.write(b"\n".join([*buffer, b""]))
    return Long(path, session, told.prompts, told.answers)


class _Told:
    """The session as it is written, one record after the other."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.prompts: list[str] = []
        self.answers: list[str] = []
        self._last: str | None = None
        self._count = self._calls = self._responses = 0
        self._failed: list[tuple[int, Record]] = []

    def records(self, most: int) -> Iterator[Record]:
        """Yield so many records, turn by turn; the last turn is whole and ends with a text."""
        turn = 0
        while self._count < most:
            turn += 1
            if not turn % COMPACTED_EVERY:
                yield from self._compact(turn)
            before = self._last
            yield from self._turn(turn)
            if not turn % LEFT_EVERY:
                # What was just said is taken back, and asked in other words.
                self._last = before
                yield from self._turn(turn)
            if not turn % NOTED_EVERY:
                yield self._note(turn)
        yield self._note(turn)

    def _turn(self, turn: int) -> Iterator[Record]:
        yield self._record("user", {"message": {"role": "user", "content": _prompt(turn)}})
        self.prompts.append(str(self._last))
        for round in range(1 + turn * 7 % MOST_CALLS):
            yield from self._round(turn, round)
        if turn % STOPPED_EVERY:
            self._responses += 1
            yield self._block({"type": "text", "text": f"{_said(turn, self._count)} That is done."})
            self.answers.append(str(self._last))
        yield self._record("system", {"subtype": "turn_duration", "durationMs": turn * 100, "isMeta": False})

    def _round(self, turn: int, round: int) -> Iterator[Record]:
        """Yield a response with one call or three, and the results, each below its call."""
        self._responses += 1
        if round % 2:
            yield self._block({"type": "text", "text": _said(turn, self._count)})
        made = []
        for _ in range(1 if (turn + round) % PARALLEL_EVERY else 3):
            self._calls += 1
            call = self._due() or self._call(turn)
            yield self._block(call)
            made.append((call, str(self._last)))
        for call, below in made:
            is_failed = call["name"] == "Bash" and not self._calls % FAILING_EVERY
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": _said(turn, self._count)}
            if is_failed:
                block["is_error"] = True
                self._failed.append((self._calls + MENDED_AFTER, call))
            content = {"message": {"role": "user", "content": [block]}, "sourceToolAssistantUUID": below}
            yield self._record("user", content, below)

    def _call(self, turn: int) -> Record:
        subject = SUBJECTS[self._calls % len(SUBJECTS)]
        path = f"{DIRECTORY}/src/{subject}/{turn % 97}.py"
        name, values = (
            ("Bash", {"command": f"pytest tests/{subject}_{self._calls}.py", "description": f"Test the {subject}"}),
            ("Read", {"file_path": path}),
            ("Edit", {"file_path": path, "old_string": f"old {subject}", "new_string": f"new {subject} {turn}"}),
        )[self._calls % 3]
        return {
            "type": "tool_use",
            "id": f"toolu_{self._digest('call', self._calls)[:22]}",
            "name": name,
            "input": values,
        }

    def _due(self) -> Record | None:
        """Return the call that failed a while ago, once more."""
        if not self._failed or self._failed[0][0] > self._calls:
            return None
        _, call = self._failed.pop(0)
        return {**call, "id": f"toolu_{self._digest('call', self._calls)[:22]}"}

    def _compact(self, turn: int) -> Iterator[Record]:
        logical = {"logicalParentUuid": self._last, "content": "Conversation compacted"}
        about = {"subtype": "compact_boundary", "level": "info", "compactMetadata": {"trigger": "auto"}}
        yield self._record("system", {**about, **logical}, None)
        summary = f"This session is being continued. {_said(turn, self._count)}"
        yield self._record("user", {"message": {"role": "user", "content": summary}, "isCompactSummary": True})

    def _note(self, turn: int) -> Record:
        note = {"lastPrompt": _prompt(turn), "leafUuid": self._last, "sessionId": self.session}
        return {"type": "last-prompt", **note}

    def _block(self, block: Record) -> Record:
        message = {
            "model": "claude-opus-4-6",
            "id": f"msg_{self._digest('response', self._responses)[:20]}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "usage": USAGE,
        }
        return self._record("assistant", {"message": message})

    def _record(self, kind: str, fields: Record, parent: str | None = "") -> Record:
        self._count += 1
        digest = self._digest("record", self._count)
        uuid = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"
        seconds, milliseconds = divmod(BEGIN_MILLISECONDS + self._count * BETWEEN_MILLISECONDS, 1_000)
        record: Record = {
            "parentUuid": self._last if parent == "" else parent,
            "isSidechain": False,
            "cwd": DIRECTORY,
            "sessionId": self.session,
            "version": "2.1.100",
            "gitBranch": "main",
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": f"{_iso(seconds)}.{milliseconds:03}Z",
        }
        self._last = uuid
        return record

    def _digest(self, kind: str, number: int) -> str:
        return hashlib.md5(f"{self.session}/{kind}/{number}".encode(), usedforsecurity=False).hexdigest()


def _prompt(turn: int) -> str:
    subject, deed = SUBJECTS[turn % len(SUBJECTS)], DEEDS[turn // len(SUBJECTS) % len(DEEDS)]
    return f"Please {deed} the {subject}, number {turn}, and tell me what it took."


def _said(turn: int, count: int) -> str:
    first, second = SUBJECTS[count % len(SUBJECTS)], SUBJECTS[count // 7 % len(SUBJECTS)]
    deed = DEEDS[count // 3 % len(DEEDS)]
    return f"The {first} of turn {turn} has to {deed} before the {second} does; line {count} says so."


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
