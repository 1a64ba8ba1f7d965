"""Whether a bit that flips anywhere in an index is healed or told, and never makes a search silently wrong."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.errors import SearchkitError
from tests.reference.fingerprint import digest
from trials.checker import Findings, records

SESSIONS = 12
# Words that stand in every session, in one of them, and in one whose transcript is deleted.
EVERYWHERE, GONE = "lantern", "candle"
WORDS = (
    "kettle",
    "anchor",
    "violin",
    "glacier",
    "saddle",
    "pepper",
    "harbour",
    "meadow",
    "copper",
    "velvet",
    "thistle",
)


# More than there are texts with one word.
MOST_FOUND = 100
IsOver = Callable[[], bool]


def flip(place: Path, flips: int, seed: int, with_vectors: bool, is_over: IsOver) -> tuple[Counter[str], Findings]:
    """Flip one bit at a time in a copy of an index; count what became of each, and list what stayed silent."""
    root, sound = place / "claude", place / "sound"
    _write(root)
    # What must be found is what the transcripts say, by a parser of its own.
    texts = [text for record in records(root) for text in record.texts]
    answers = {word: sorted(text for text in texts if word in text) for word in (EVERYWHERE, GONE, *WORDS)}
    model = "fake" if with_vectors else None
    with Engine(sound, [root], model=model) as engine:
        engine.index(with_vectors=with_vectors)
    (root / "projects" / "-shop" / f"{_uuid(0, 0)}.jsonl").unlink()
    with Engine(sound, [root], model=model) as engine:
        engine.index(with_vectors=with_vectors)
    whole = _digest(sound)
    draws = random.Random(seed)
    told, found = Counter[str](), Findings(records=len(texts))
    found.lost += [word for word, expected in answers.items() if _found(sound, root, word) != expected]
    for number in range(flips):
        if is_over():
            break
        index = place / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(sound, index)
        file, bit = _flip(index, draws)
        try:
            outcome = _outcome(index, root, whole, answers, model)
        except Exception as error:  # whatever it is, a user would be told that searchkit is wrong
            outcome = f"SILENT; {type(error).__name__}: {error}"
        told["flips"] += 1
        told[f"{_kind(file)}: {outcome.partition(';')[0]}"] += 1
        found.checks += 1
        if outcome.startswith("SILENT"):
            found.silent.append(f"flip {number} of seed {seed}: bit {bit} of {file}: {outcome}")
    return told, found


def _outcome(index: Path, root: Path, whole: str, answers: dict[str, list[str]], model: str | None) -> str:
    """Say what became of a flip: without effect, told and healed, or silent."""
    is_told = False
    findings: list[str] = []
    try:
        with Engine(index, [root], model=model) as engine:
            findings = [one.detail for one in engine.findings(is_deep=True) if one.kind.startswith("index:")]
        is_told = bool(findings)
    except SearchkitError:
        is_told = True
    for word, expected in answers.items():
        try:
            found = _found(index, root, word)
        except SearchkitError:
            is_told = True
            continue
        if not found and expected:
            return f"SILENT; nothing is found for {word}; told: {findings}"
        if found != expected and not is_told:
            return f"SILENT; {word} finds something else"
    if not is_told and _digest(index) != whole:
        return "SILENT; the index says something else"
    try:
        with Engine(index, [root], model=model) as engine:
            engine.index(is_rebuild=True, with_vectors=model is not None)
            left = [one for one in engine.findings(is_deep=True) if one.kind.startswith("index:")]
    except SearchkitError as error:
        return f"SILENT; a rebuild does not mend it: {error.message}"
    if any(one.kind != "index: lost" for one in left):
        return f"SILENT; after a rebuild: {[one.detail for one in left]}"
    mended = {word: _found(index, root, word) for word in answers}
    is_healed = _digest(index) == whole and mended == answers
    if not is_told:
        return "no effect" if is_healed else "SILENT; a rebuild without damage changes something"
    if not is_healed and not left:
        lost = [word for word in answers if mended[word] != answers[word]]
        return f"SILENT; healed to something else, {lost}"
    return "told and healed" if is_healed else "told, and what only the index had is named as lost"


def _digest(index: Path) -> str:
    with closing(LocalBackend(index)) as backend:
        return digest(backend)


def _found(index: Path, root: Path, word: str) -> list[str]:
    with Engine(index, [root]) as engine:
        answer = engine.search(word, MOST_FOUND, mode="keyword", group="none")
        return sorted(result.best.stored.part.text for result in answer.results)


def _flip(index: Path, draws: random.Random) -> tuple[str, int]:
    """Flip one bit, of all bits of all files of the index."""
    files = sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size)
    [file] = draws.choices(files, [path.stat().st_size for path in files])
    content = bytearray(file.read_bytes())
    bit = draws.randrange(len(content) * 8)
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)
    return str(file.relative_to(index)), bit


def _kind(file: str) -> str:
    for store in (layout.KEYWORD, layout.VECTORS, layout.CATALOG, layout.MANIFEST):
        if file.startswith(store):
            return store
    return "other"


def _write(root: Path) -> None:
    """Write sessions in which every word stands, each a little different, so that tables have rows of all kinds."""
    project = root / "projects" / "-shop"
    project.mkdir(parents=True)
    for session in range(SESSIONS):
        word = GONE if session == 0 else WORDS[session - 1]
        lines = [*_session(session, word)]
        (project / f"{_uuid(session, 0)}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def _session(session: int, word: str) -> list[dict[str, object]]:
    texts = [f"where is the {EVERYWHERE} with the {word}?"]
    texts += [f"the {word} stands beside shelf {number} of {session}, and the door is open" for number in range(60)]
    lines: list[dict[str, object]] = []
    for number, text in enumerate(texts, 1):
        is_prompt = number % 10 == 1
        content: object = text if is_prompt else [{"type": "text", "text": text}]
        role = "user" if is_prompt else "assistant"
        lines.append(
            {
                "type": role,
                "uuid": _uuid(session, number),
                "parentUuid": _uuid(session, number - 1) if number > 1 else None,
                "sessionId": _uuid(session, 0),
                "timestamp": f"2026-03-{session + 1:02}T10:{number // 60:02}:{number % 60:02}.000Z",
                "cwd": "/home/mira/src/shop",
                "gitBranch": f"fix/{word}",
                "version": "2.1.100",
                "message": {"role": role, "content": content, "id": f"msg_{session}_{number}"},
            }
        )
    return lines


def _uuid(session: int, number: int) -> str:
    return f"{session:08x}-0000-4000-8000-{number:012x}"
