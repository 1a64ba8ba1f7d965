"""Compares what transcripts say with what an index answers, by a parser of its own and the command line alone.

Nothing of searchkit is imported here: what reads the transcripts a second time must not share its faults.
It knows records of people and of models, with their texts, thoughts, calls and results; lines that are torn,
or joined to the line after them; and that what an index once answered stays until somebody prunes it.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

COMMAND_SECONDS = 900
# What a search returns at most.
MOST_RESULTS = 1000
# A word that stands in copies of a record, or in another form elsewhere, finds so many at most.
MOST_COPIES = 100
# A question takes some ten milliseconds.
MOST_QUESTIONS = 3000
# In a torn line, an object is looked for at so many places; a record of the trials has six.
MOST_STARTS = 30
WORD = re.compile(r"(?<![\w'\-./])[a-z]{5,30}(?![\w'\-/])")
# Sentences that a user must never see.
FAULTS = ("fault of searchkit", "Traceback (most recent call last)", "panicked at")


@dataclass(frozen=True)
class Record:
    """What one record of a transcript says."""

    uuid: str
    session: str
    texts: tuple[str, ...]


@dataclass
class Findings:
    """What the checks have seen: how much there was to compare, and what was not as it should be."""

    checks: int = 0
    records: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """Everything that was wrong, in words."""
        return [
            f"{kind}: {one}"
            for kind, found in (("lost", self.lost), ("doubled", self.doubled), ("silent", self.silent))
            for one in found
        ]

    def add(self, other: "Findings") -> None:
        """Add what another saw."""
        self.checks += other.checks
        self.records += other.records
        self.lost += other.lost
        self.doubled += other.doubled
        self.silent += other.silent


@dataclass(frozen=True)
class Said:
    """What a command printed, and how it ended."""

    status: int
    out: str
    err: str


def run(*words: str | Path, environment: dict[str, str] | None = None) -> Said:
    """Run searchkit as a user would."""
    command = [sys.executable, "-P", "-m", "searchkit.__main__", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, timeout=COMMAND_SECONDS, check=False, env={**os.environ, **(environment or {})}
    )
    return Said(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def records(root: Path) -> Iterator[Record]:
    """Read every whole record of the transcripts below a root that carries texts."""
    for path in sorted((root / "projects").rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            if (found := _record(line)) is not None:
                yield found


def is_named(said: Said) -> bool:
    """Whether a command that failed said so as it should: with its status and in a sentence of ours."""
    return not any(fault in said.err for fault in FAULTS) and (said.status == 0 or bool(said.err.strip()))


class Checker:
    """Remembers what an index has answered, and holds it to that."""

    def __init__(self, root: Path, index: Path, environment: dict[str, str] | None = None) -> None:
        """Take a root and the index of it."""
        self._root, self._index = root, index
        self._environment = environment or {}
        self._known: dict[str, Record] = {}
        self.findings = Findings()

    def quick(self, most: int = MOST_QUESTIONS) -> None:
        """Look for records that are new since the last check, evenly chosen, by a word that no other record has."""
        fresh = {one.uuid: one for one in records(self._root) if one.uuid not in self._known}
        words = _own_words([*self._known.values(), *fresh.values()])
        self._look(list(fresh.values())[:: max(1, -(-len(fresh) // most))], words)
        self._known |= fresh

    def old(self, count: int, environment: dict[str, str]) -> None:
        """Look for some records that earlier checks have seen, in an environment in which something is wrong."""
        known, calm = list(self._known.values()), self._environment
        step = max(1, len(known) // count)
        self._environment = environment
        self._look(known[::step][:count], _own_words(known))
        self._environment = calm

    def find(self, planted: dict[str, str]) -> None:
        """Look for records by words that are known to stand in them, and perhaps in copies of them."""
        answers = self._ask(list(planted.values()), MOST_COPIES)
        for (uuid, word), answer in zip(planted.items(), answers, strict=False):
            if uuid not in [result["uuid"] for result in answer]:
                self.findings.lost.append(f"{uuid} is not found by {word}")
        self.findings.checks += 1
        self.findings.records += len(planted)

    def texts(self, words: str, expected: dict[str, dict[str, str]]) -> None:
        """Compare the texts of sessions, by record, that have words in common."""
        answers = self._ask([f"{words} session:{session}" for session in expected], MOST_RESULTS)
        for (session, texts), answer in zip(expected.items(), answers, strict=False):
            found = Counter((one["uuid"], _plain(one["snippet"])) for one in answer)
            self.findings.lost += [
                f"{uuid} of {session}: {texts[uuid]}" for uuid, text in texts.items() if (uuid, text) not in found
            ]
            self.findings.doubled += [
                f"{uuid} of {session}" for (uuid, text), count in found.items() if count > 1 and texts.get(uuid) == text
            ]
        self.findings.checks += 1
        self.findings.records += sum(map(len, expected.values()))

    def sample(self, draws: random.Random, count: int) -> None:
        """Look for some of all texts by words that no other has.

        A record may be damaged so that only its text is left, which is then found as that of another.
        """
        own = _own_words({one.uuid: one for one in records(self._root)}.values())
        chosen = draws.sample(sorted(own), min(count, len(own)))
        answers = self._ask([own[uuid] for uuid in chosen], 1)
        self.findings.lost += [
            f"{uuid} is not found by {own[uuid]}" for uuid, found in zip(chosen, answers, strict=False) if not found
        ]
        self.findings.checks += 1
        self.findings.records += len(chosen)

    def full(self, ever: Collection[str] = ()) -> None:
        """List every session, and compare all texts with all that is written, or was and is not any more."""
        written = {one.uuid: one for one in records(self._root)}
        self._known |= written
        sessions = sorted({one.session for one in self._known.values()})
        answers = self._ask([f"session:{session}" for session in sessions], MOST_RESULTS, ("--sort", "oldest"))
        parts: Counter[str] = Counter()
        said: dict[str, set[str]] = {}
        for answer in answers:
            for result in answer:
                parts[result["part"]] += 1
                said.setdefault(result["uuid"], set()).add(_plain(result["snippet"]))
        for one in self._known.values():
            missing = [text for text in one.texts if not any(_plain(text) in kept for kept in said.get(one.uuid, ()))]
            self.findings.lost += [f"{one.uuid} of {one.session} says {text!r}" for text in missing]
        self.findings.doubled += [f"{part} is listed {count} times" for part, count in parts.items() if count > 1]
        self.findings.silent += [f"{uuid} was never written" for uuid in said.keys() - self._known.keys() - set(ever)]
        self.findings.checks += 1
        self.findings.records += len(self._known)

    def well(self) -> None:
        """Ask the doctor, who must find nothing wrong with the index."""
        said = run("doctor", "--deep", "--full", "--json", "--index", self._index, environment=self._environment)
        try:
            found = [one for one in json.loads(said.out)["findings"] if one["kind"].startswith("index:")]
        except (ValueError, KeyError):
            found = [said.err.strip()[-300:]]
        self.findings.silent += [f"doctor: {one}" for one in found]

    def index(self, *options: str, allowed: Sequence[int] = (0,)) -> bool:
        """Bring the index up to date in peace, which must work, or say of which files it does not."""
        said = run("index", *options, "--root", self._root, "--index", self._index, environment=self._environment)
        is_done = said.status in allowed and is_named(said)
        if not is_done:
            self.findings.silent.append(f"index {' '.join(options)} in peace: {said.status} {said.err.strip()[-300:]}")
        return is_done

    def _look(self, wanted: Iterable[Record], words: dict[str, str]) -> None:
        asked = [one for one in wanted if one.uuid in words]
        answers = self._ask([words[one.uuid] for one in asked], 5)
        for one, answer in zip(asked, answers, strict=False):
            found = [result["uuid"] for result in answer]
            if one.uuid not in found:
                self.findings.lost.append(f"{one.uuid} of {one.session} is not found by {words[one.uuid]}")
            elif len(found) != len({result["part"] for result in answer}) or set(found) != {one.uuid}:
                self.findings.doubled.append(f"{words[one.uuid]} finds {found}")
        self.findings.checks += 1
        self.findings.records += len(asked)

    def _ask(self, questions: Sequence[str], limit: int, options: Sequence[str] = ()) -> list[list[dict[str, str]]]:
        if not questions:
            return []
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps({"id": n, "query": words}) + "\n" for n, words in enumerate(questions))
            file.flush()
            # With an explicit mode, nothing that cannot be found exactly is looked for by meaning.
            exact = ("--mode", "keyword", "--thread", "0", "--limit", str(limit), "--json", "--queries", file.name)
            said = run("search", *exact, *options, "--index", self._index, environment=self._environment)
        if said.status not in (0, 1):
            self.findings.silent.append(f"searching fails: {said.status} {said.err.strip()[-300:]}")
            return []
        answers = [json.loads(line) for line in said.out.splitlines() if line.strip()]
        if len(answers) != len(questions):
            self.findings.silent.append(f"{len(answers)} answers to {len(questions)} questions")
        # Another spelling is another question.
        return [[] if answer.get("respelled") else answer["results"] for answer in answers]


def _record(line: bytes) -> Record | None:
    """Read one line; of a torn one that another was joined to, read the other."""
    for start in _starts(line):
        try:
            value = json.loads(line[start:])
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or not isinstance(value.get("uuid"), str):
            return None
        session, message = value.get("sessionId"), value.get("message")
        if value.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            return None
        texts = tuple(text for text in _texts(message.get("content")) if text.strip())
        return Record(value["uuid"], str(session), texts) if texts else None
    return None


def _starts(line: bytes) -> Iterator[int]:
    place = line.find(b"{")
    for _ in range(MOST_STARTS):
        if place < 0:
            return
        yield place
        place = line.find(b'{"', place + 1)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "text" | "thinking" as kind if isinstance(block.get(kind), str):
                yield block[kind]
            case "tool_use" if isinstance(block.get("input"), dict):
                yield from (value for value in block["input"].values() if isinstance(value, str))
            case "tool_result":
                yield from _texts(block.get("content"))


def _own_words(written: Iterable[Record]) -> dict[str, str]:
    """Return, by uuid, a word that stands in this record and in no other."""
    holders: dict[str, str] = {}
    for one in written:
        for text in one.texts:
            for word in set(WORD.findall(text)):
                holders[word] = one.uuid if holders.get(word, one.uuid) == one.uuid else ""
    own: dict[str, str] = {}
    for word, uuid in holders.items():
        if uuid and len(word) > len(own.get(uuid, "")):
            own[uuid] = word
    return own


def _plain(text: str) -> str:
    return " ".join(text.split())
