"""Reads Claude Code's transcripts independently of searchkit: where a word stands, which records and fields there are.

It knows as little as it can: JSON lines, blocks of messages, attachments. What searchkit says is compared with it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
# Copies that the client keeps for itself; nothing in them is said a second time.
PLUMBING = ("api-request", "api-request-shape", "api-request-blob", "last-prompt", "queue-operation")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A record that holds a word: its session, its uuid where it has one, and what it is."""

    session: str
    uuid: str
    where: str


def records(root: Path) -> Iterator[tuple[Path, Json]]:
    """Yield every record of every transcript with its file."""
    for path in sorted((root / "projects").rglob("*.jsonl")):
        for line in path.read_text(errors="replace").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield path, record


def places(root: Path, words: set[str]) -> dict[str, list[Place]]:
    """Return where each word stands, in records that say something and in files of overflow output."""
    found: dict[str, list[Place]] = defaultdict(list)
    for path, record in records(root):
        if record.get("type") in PLUMBING:
            continue
        for where, text in spots(record):
            for word in _words(text) & words:
                place = Place(session=session(root, path, record), uuid=str(record.get("uuid") or ""), where=where)
                if place not in found[word]:
                    found[word].append(place)
    for path in (root / "projects").rglob("tool-results/*"):
        for word in _words(path.read_text(errors="replace")) & words:
            found[word].append(Place(session=path.parent.parent.name, uuid="", where="file/overflow"))
    for path in (root / "tasks").glob("*/*.json"):
        for word in _words(path.read_text(errors="replace")) & words:
            found[word].append(Place(session=path.parent.name, uuid="", where="file/task"))
    for path in (root / "plans").glob("*.md"):
        for word in _words(path.read_text(errors="replace")) & words:
            found[word].append(Place(session="", uuid="", where="file/plan"))
    return found


def spots(record: Json) -> Iterator[tuple[str, str]]:
    """Yield each text of a record with what it is, such as `assistant/thinking`."""
    kind = str(record.get("type"))
    message = record.get("message")
    if not isinstance(message, dict):
        detail = record.get("subtype")
        attachment = record.get("attachment")
        if isinstance(attachment, dict):
            detail = attachment.get("type")
            # What is rendered for the model repeats the attachment.
            record = {"attachment": attachment}
        yield f"{kind}/{detail}" if detail else kind, json.dumps(record)
        return
    if record.get("isCompactSummary"):
        kind = "summary"
    elif record.get("isMeta"):
        kind = "meta"
    content = message.get("content")
    if isinstance(content, str):
        yield f"{kind}/text", content
        return
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield f"{kind}/{block.get('type')}", json.dumps(block)


def session(root: Path, path: Path, record: Json) -> str:
    """Return the session of a record: what it says, else what its file is named after."""
    said = record.get("sessionId")
    if isinstance(said, str):
        return said
    return path.relative_to(root / "projects").parts[1].removesuffix(".jsonl")


def responses(root: Path) -> dict[str, dict[str, Json]]:
    """Return for each session its responses by their id, each with the greatest counts of tokens that it names."""
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    for path, record in records(root):
        message = record.get("message")
        if record.get("type") != "assistant" or not isinstance(message, dict):
            continue
        usage = {name: count for name, count in (message.get("usage") or {}).items() if isinstance(count, int)}
        known = found[session(root, path, record)].setdefault(str(message.get("id")), {})
        for name, count in usage.items():
            known[name] = max(count, known.get(name, 0))
    return found


def titles(root: Path) -> dict[str, str]:
    """Return what sessions were called: by a person before by the client, the last of each."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, record in records(root):
        for kind, name in (("custom-title", "customTitle"), ("ai-title", "aiTitle")):
            if record.get("type") == kind and isinstance(record.get(name), str):
                found[session(root, path, record)][kind] = record[name]
    return {id: called.get("custom-title") or called["ai-title"] for id, called in found.items()}


def _words(text: str) -> set[str]:
    """Return the planted words of a text: they begin with zq, and have letters and digits only."""
    words, at = set(), text.find("zq")
    while at >= 0:
        end = at
        while end < len(text) and text[end].isalnum():
            end += 1
        words.add(text[at:end])
        at = text.find("zq", end)
    return words
