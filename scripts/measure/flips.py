"""Whether a bit that flips anywhere in an index is healed or told, and never makes a search silently wrong."""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from searchkit import Engine
from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.errors import SearchkitError
from tests.reference.fingerprint import digest

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


def main() -> int:
    """Flip bits and say what became of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flips", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-vectors", action="store_true")
    chosen = parser.parse_args()
    os.environ["SEARCHKIT_NO_RESIDENT"] = "1"
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        told = Counter[str]()
        failures = list(_campaign(Path(place), chosen.flips, chosen.seed, not chosen.no_vectors, told))
    for failure in failures:
        sys.stdout.write(f"FAILED {failure}\n")
    sys.stdout.write(f"{chosen.flips} flips in {time.monotonic() - started:.0f} s: {dict(sorted(told.items()))}\n")
    sys.stdout.write(f"{chosen.flips - len(failures)} passed, {len(failures)} failed\n")
    return 1 if failures else 0


def _campaign(place: Path, flips: int, seed: int, with_vectors: bool, told: Counter[str]) -> list[str]:
    root, sound = place / "claude", place / "sound"
    _write(root)
    model = "fake" if with_vectors else None
    with Engine(sound, [root], model=model) as engine:
        engine.index(with_vectors=with_vectors)
    (root / "projects" / "-shop" / f"{_uuid(0, 0)}.jsonl").unlink()
    with Engine(sound, [root], model=model) as engine:
        engine.index(with_vectors=with_vectors)
    whole = _digest(sound)
    answers = _answers(sound, root)
    draws = random.Random(seed)
    failures = []
    for number in range(flips):
        index = place / "index"
        shutil.rmtree(index, ignore_errors=True)
        shutil.copytree(sound, index)
        file, bit = _flip(index, draws)
        try:
            outcome = _outcome(index, root, whole, answers, model)
        except Exception as error:  # whatever it is, a user would be told that searchkit is wrong
            outcome = f"SILENT; {type(error).__name__}: {error}"
        told[f"{_kind(file)}: {outcome.partition(';')[0]}"] += 1
        if outcome.startswith("SILENT"):
            failures.append(f"flip {number} of seed {seed}: bit {bit} of {file}: {outcome}")
    return failures


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


def _answers(index: Path, root: Path) -> dict[str, list[str]]:
    return {word: _found(index, root, word) for word in (EVERYWHERE, GONE, *WORDS)}


def _found(index: Path, root: Path, word: str) -> list[str]:
    with Engine(index, [root]) as engine:
        answer = engine.search(word, 50, mode="keyword", group="none")
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
