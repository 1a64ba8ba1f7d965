"""Damages lines of transcripts as disks, editors and other programs do, between lines that must stay findable."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from tests.corpus.build import build
from tests.support.transcript import Home

SEED = 20_260_801
LINES_A_FILE = 250
DAMAGED_DOCUMENTS = 200
# Lines for damage come from a corpus of this size: it holds every type of record, FORMAT section 2.
BASE_MB = 2
BASES_A_SHAPE = 12
# The limits of orjson (1,024 levels) and of Python's own recursion lie among these.
DEPTHS = (30, 300, 990, 1_010, 1_023, 1_024, 1_025, 20_000)
HUGE_CHARACTERS = 600_000
UUID = re.compile(rb'"uuid":\s*"[^"]*"')
# What stands where something else was expected; the numbers do not fit into 64 bits, or into a float.
ODD_VALUES: tuple[bytes, ...] = (
    *(b"null", b"true", b"0", b"-1", b"1e999", b"NaN", b"-Infinity", b"123456789012345678901234567890", b"1.5"),
    *(b'""', b'" "', b"[]", b"{}", b"[[]]", b'[null,1,"x",{}]', b'{"":{"":""}}', b'{"type":[]}', b'{"content":5}'),
    *(rb'"\ud83d"', rb'"\udc00\ud800 x"', rb'"a\u0000b"', rb'"\u001b[31m\u202e"', '"\u2028\uffff"'.encode()),
    *(b'"9999-99-99T99:99:99Z"', b'"0001-01-01T00:00:00Z"', b'"user"', b'"assistant"', b'"progress"', b'"system"'),
    *(b'{"a;b c":1,"a 1 2;":[";"]}', b'"<persisted-output> saved to: ../../../etc/passwd"', b'"../../x"'),
    *(b'[{"type":"tool_use","input":7,"id":3}]', b'[{"type":"tool_result","content":[[[1]]],"tool_use_id":{}}]'),
    *(b'{"type":"text","text":{"text":"x"}}', b'[{"type":"thinking","thinking":null},{"type":["text"]},null,4]'),
)


def lines(root: Path) -> list[bytes]:
    """Return lines as Claude Code writes them, of every type, the rare types as often as the common ones."""
    build(root, BASE_MB, SEED)
    by_shape: dict[str, list[bytes]] = {}
    for path in sorted((root / "projects").rglob("*.jsonl*")):
        for line in path.read_bytes().split(b"\n"):
            by_shape.setdefault(shape(line), []).append(line)
    return [line for lines in by_shape.values() for line in lines[:BASES_A_SHAPE]]


def write_damaged(root: Path, bases: list[bytes], count: int, seed: int = SEED) -> dict[str, dict[str, str]]:
    """Write damaged lines between sound ones, in every kind of file; return the texts by session and uuid."""
    rng = random.Random(seed)
    home = Home(root)
    expected: dict[str, dict[str, str]] = {}
    for file in range(0, count, LINES_A_FILE):
        session = f"{file:08x}-0000-4000-a000-000000000000"
        if file // LINES_A_FILE % 4 == 1:
            transcript = home.agent(session, ("a1b2c3", "acompact-77", "aside_question-5")[file // 1_000 % 3])
        else:
            transcript = home.session(session)
        neighbours = expected.setdefault(session, {})
        for number in range(min(LINES_A_FILE, count - file)):
            say = transcript.prompt if number % 2 else transcript.text
            record = say(f"neighbour {file + number} of the damaged line")
            neighbours[record["uuid"]] = f"neighbour {file + number} of the damaged line"
            transcript.raw(damaged(rng, bases) + b"\n")
        record = transcript.prompt(f"the last line of file {file}")
        neighbours[record["uuid"]] = f"the last line of file {file}"
    _write_side_files(rng, home, bases)
    return expected


def damaged(rng: random.Random, bases: list[bytes]) -> bytes:
    """Damage one line in one to three ways."""
    line = rng.choice(bases)
    if rng.random() < 0.9:
        # With the uuid of its base a line becomes one of many copies, which is tried often enough.
        line = UUID.sub(b'"uuid":"%s"' % f"{rng.getrandbits(128):032x}".encode(), line, count=1)
    for _ in range(rng.choice((1, 1, 2, 3))):
        line = rng.choices(DAMAGES, WEIGHTS)[0](rng, line, bases)
    # A line of its own it stays, except where a flipped bit or a copied byte is a newline.
    return line


def cut(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Lose the beginning or the end."""
    place = rng.randrange(len(line) + 1)
    return line[:place] if rng.random() < 0.5 else line[place:]


def splice(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Go on in the middle of another line."""
    other = rng.choice(bases)
    return line[: rng.randrange(len(line) + 1)] + other[rng.randrange(len(other) + 1) :]


def flip_bits(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Flip one to eight bits."""
    changed = bytearray(line)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def insert_bytes(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Put NUL bytes, bytes that are not UTF-8, or control characters somewhere."""
    strange = (
        b"\0",
        b"\0" * 50,
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf8",
        b"\r",
        b"\x1b[0m",
        b"\xef\xbb\xbf",
    )
    place = rng.randrange(len(line) + 1)
    return line[:place] + rng.choice(strange) + line[place:]


def retype(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Put a value of another type in the place of one, at any level."""
    return _put(rng, line, rng.choice(ODD_VALUES))


def nest(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Put something deeply nested in the place of a value."""
    depth = rng.choice(DEPTHS)
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"content":', b"}]"), (b"[", b"")))
    return _put(rng, line, opening * depth + b'"deep"' + closing * depth)


def swell(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Put something huge in the place of a value: a text, a word, many fields, many items."""
    size = rng.randrange(HUGE_CHARACTERS)
    fields = b",".join(b'"key %d":%d' % (number, number) for number in range(size // 60))
    huge = (
        b'"%s"' % (b"word " * (size // 5)),
        b'"%s"' % (b"x" * size),
        b"{%s}" % fields,
        b"[%s1]" % (b"1," * (size // 8)),
    )
    return _put(rng, line, rng.choice(huge))


def swap(rng: random.Random, line: bytes, bases: list[bytes]) -> bytes:
    """Exchange two values, or two keys, wherever they stand."""
    matches = list(KEY.finditer(line))
    if len(matches) < 2:
        return line
    one, other = sorted(rng.sample(matches, 2), key=lambda match: match.start())
    is_key = rng.random() < 0.3
    (a, b), (c, d) = (match.span(1) if is_key else value(line, match) for match in (one, other))
    return line if b > c else line[:a] + line[c:d] + line[b:c] + line[a:b] + line[d:]


Damage = Callable[[random.Random, bytes, list[bytes]], bytes]
DAMAGES: tuple[Damage, ...] = (cut, splice, flip_bits, insert_bytes, retype, nest, swell, swap)
# What is huge or deep takes a thousand times as long to write, and a few hundred of them are enough.
WEIGHTS = (15, 15, 15, 10, 30, 1, 0.2, 14)


def values(line: bytes) -> list[tuple[int, int]]:
    """Find where the values of a line lie that follow a key, containers included."""
    return [value(line, match) for match in KEY.finditer(line)]


def value(line: bytes, key: re.Match[bytes]) -> tuple[int, int]:
    """Find where the value of a key lies."""
    depth = 0
    for token in TOKEN.finditer(line, key.end()):
        depth += (token.group() in (b"[", b"{")) - (token.group() in (b"]", b"}"))
        if depth <= 0:
            return key.end(), token.end() if depth == 0 else token.start()
    return key.end(), len(line)


KEY = re.compile(rb'("(?:[^"\\]|\\.){0,60}"):')
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s",\[\]{}:]+')


def _put(rng: random.Random, line: bytes, new: bytes) -> bytes:
    matches = list(KEY.finditer(line))
    start, end = value(line, rng.choice(matches)) if matches else (0, len(line))
    return line[:start] + new + line[end:]


def _write_side_files(rng: random.Random, home: Home, bases: list[bytes]) -> None:
    """Damage the files beside the transcripts as well; none of them is needed for what is expected."""
    session = "5e551000-0000-4000-a000-000000000000"
    entry = {
        "sessionId": session,
        "summary": "A title",
        "firstPrompt": "Where is it?",
        "created": "2026-03-01T10:00:00Z",
    }
    documents: list[tuple[str, Any]] = [
        (
            f"projects/-home-mira/{session}/subagents/agent-{{}}.meta.json",
            {"agentType": "Explore", "description": "Look"},
        ),
        (f"todos/{session}-agent-{{}}.json", [{"content": "Write it down", "status": "pending", "id": "1"}]),
        (f"tasks/{session}/{{}}.json", {"id": "1", "subject": "Do it", "description": "", "status": "pending"}),
        ("projects/-p-{}/sessions-index.json", {"version": 1, "entries": [entry]}),
        ("plans/{}.md", "# A plan"),
        ("projects/-home-mira/memory/{}.md", "Remember"),
        (f"projects/-home-mira/{session}/tool-results/{{}}.txt", "The whole result"),
        (f"projects/-home-mira/{session}/subagents/workflows/wf_{{}}/journal.jsonl", {"type": "result", "key": "k"}),
    ]
    for number in range(DAMAGED_DOCUMENTS):
        name, document = documents[number % len(documents)]
        home.write(home.root / name.format(number), damaged(rng, [orjson.dumps(document), *bases[:5]]))
    lines = [{"display": "Where is it?", "pastedContents": {"1": {"content": "x"}}, "timestamp": 5, "project": "/p"}]
    history = (damaged(rng, [orjson.dumps(line) for line in lines]) for _ in range(DAMAGED_DOCUMENTS))
    home.write(home.root / "history.jsonl", b"\n".join(history))


def shape(line: bytes) -> str:
    """Tell lines apart by their type and by what they carry, so that none is forgotten."""
    try:
        record = orjson.loads(line)
    except ValueError:
        return "torn"
    if not isinstance(record, dict):
        return "no object"
    return " ".join([str(record.get("type")), str(record.get("subtype")), *_inner_types(record)])


def _inner_types(record: dict[str, Any]) -> Iterator[str]:
    for key in ("attachment", "data"):
        inner = record.get(key)
        yield str(inner.get("type")) if isinstance(inner, dict) else "-"
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    yield str(content[0].get("type")) if isinstance(content, list) and content else type(content).__name__
