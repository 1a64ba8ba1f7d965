"""Roots that change while they are read: one that fills up as a ~/.claude does, and one to which everything happens."""

import contextlib
import json
import os
import random
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from measure.corpora import transcripts

# Of all bytes, what is there before the first process starts.
FIRST_SHARE = 0.3
# Files that do not exist at first.
ABSENT_SHARE = 0.4
# Claude Code writes these before the line that names them.
BEFORE_THEIR_LINE = "tool-results"


class GrowingRoot:
    """The files of a finished corpus, of which `root` holds the beginnings."""

    def __init__(self, finished: Path, root: Path, rng: random.Random) -> None:
        """Set the tails of the transcripts and most side files aside."""
        self._finished, self._root, self._rng = finished, root, rng
        self._open: dict[Path, int] = {}
        self._documents: list[Path] = []
        grows = {path.relative_to(finished) for path in transcripts(finished)}
        for folder, _, names in os.walk(finished):
            (root / Path(folder).relative_to(finished)).mkdir(parents=True, exist_ok=True)
            for name in sorted(names):
                path = Path(folder, name).relative_to(finished)
                if path in grows:
                    self._open[path] = 0
                elif BEFORE_THEIR_LINE in path.parts or rng.random() < FIRST_SHARE:
                    shutil.copy(finished / path, root / path)
                else:
                    self._documents.append(path)
        # The order of os.walk is the file system's: the choices must not depend on it.
        self._open = dict(sorted(self._open.items()))
        self._documents.sort()
        self._bytes = sum((finished / path).stat().st_size for path in self._open)
        for path in list(self._open):
            if rng.random() > ABSENT_SHARE:
                self._append(path, int((finished / path).stat().st_size * rng.random() * 2 * FIRST_SHARE))

    def grow(self, share: float) -> None:
        """Append about that share of everything to a file or two, and write a side file now and then."""
        amount = int(self._bytes * share * self._rng.expovariate(1))
        picked = self._rng.random()
        if self._documents and self._rng.random() < 0.5:
            path = self._documents.pop(self._rng.randrange(len(self._documents)))
            shutil.copy(self._finished / path, self._root / path)
        while amount > 0 and self._open:
            path = list(self._open)[int(picked * len(self._open))]
            amount -= self._append(path, amount)

    def finish(self) -> None:
        """Write all that is still missing."""
        for path in list(self._open):
            self._append(path, (self._finished / path).stat().st_size)
        for path in self._documents:
            shutil.copy(self._finished / path, self._root / path)
        self._documents.clear()

    def _append(self, path: Path, amount: int) -> int:
        """Append at least that many bytes, up to somewhere in a line, to its end, or to just before its newline."""
        content = (self._finished / path).read_bytes()
        start = self._open[path]
        end = min(start + max(amount, 1), len(content))
        place = self._rng.random()
        if place < 0.5:
            end = (content.find(b"\n", end) + 1 or len(content)) - (place < 0.2)
            end = max(end, start)
        with (self._root / path).open("ab") as file:
            file.write(content[start:end])
        self._open[path] = end
        if end == len(content):
            del self._open[path]
        return max(end - start, 1)


# Of what happens to transcripts, most is growth; the rest is rare but real.
CHANGES = {
    "append": 12,
    "tear": 3,
    "begin": 2,
    "truncate": 1,
    "rewrite": 1,
    "restore": 1,
    "rename": 1,
    "delete": 1,
}
SESSIONS_AT_MOST = 40
# A listing of a session returns at most 1,000 parts.
LINES_A_SESSION = 300
PROJECTS = ("-home-mira-src-shop", "-home-mira-src-bakery", "-srv-notes")
KINDS = ("prompt", "text", "thinking", "call", "result")
CHANGE_SECONDS = 0.02
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]


class ChangingRoot:
    """Transcripts to which everything happens that happens to files; every record says a word of its own."""

    def __init__(self, root: Path, seed: int) -> None:
        """Begin with some sessions."""
        self.root = root
        self.seen: Counter[str] = Counter()
        # The ids of all records that any file ever held.
        self.written: set[str] = set()
        self._draws = random.Random(seed)
        self._numbers = 0
        self._lines: Counter[Path] = Counter()
        self._stopped, self._one_at_a_time = threading.Event(), threading.Lock()
        for project in PROJECTS:
            (root / "projects" / project).mkdir(parents=True)
        for _ in range(5):
            self._begin()
        self.change(30)

    def change(self, count: int) -> None:
        """Let so many things happen to the transcripts."""
        for _ in range(count):
            [name] = self._draws.choices(list(CHANGES), list(CHANGES.values()))
            act: Callable[[], None] = getattr(self, f"_{name}")
            with self._one_at_a_time:
                act()
                self.seen[name] += 1

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Let things happen all the time, in a thread, until this is left."""
        self._stopped.clear()
        thread = threading.Thread(target=self._change_on)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def word(self) -> str:
        """Return a word that was never returned before, which no stemmer joins with another."""
        self._numbers += 1
        number, word = self._numbers * 7_368_787 % 52**4, ""
        for _ in range(4):
            number, syllable = divmod(number, len(SYLLABLES))
            word += SYLLABLES[syllable]
        return f"{word}x"

    def _change_on(self) -> None:
        while not self._stopped.wait(CHANGE_SECONDS):
            self.change(1)

    def _begin(self) -> None:
        if len(self._lines) < SESSIONS_AT_MOST:
            name = f"{self._draws.getrandbits(32):08x}-0000-4000-8000-{self._numbers:012x}"
            path = self.root / "projects" / self._draws.choice(PROJECTS) / f"{name}.jsonl"
            self._lines[path] = 0
            self._append(path)

    def _append(self, path: Path | None = None) -> None:
        """Append records, in pieces that a reader may see."""
        path = path or self._pick()
        content = b"".join(self._line(path) for _ in range(self._draws.randint(1, 8)))
        place = self._draws.randrange(len(content))
        for piece in (content[:place], content[place:]):
            with path.open("ab") as file:
                file.write(piece)
        if self._lines[path] > LINES_A_SESSION:
            del self._lines[path]

    def _tear(self) -> None:
        """Append the beginning of a record; what is written next is joined to it."""
        path = self._pick()
        line = self._line(path)
        with path.open("ab") as file:
            file.write(line[: self._draws.randrange(1, len(line) - 1)])

    def _truncate(self) -> None:
        path = self._pick()
        size = path.stat().st_size
        os.truncate(path, self._draws.randrange(size // 2, size + 1))

    def _rewrite(self) -> None:
        """Write a transcript again, without some of its lines and with others."""
        path = self._pick()
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if line.endswith(b"\n") and self._draws.random() < 0.7]
        with path.open("r+b" if self._draws.random() < 0.5 else "wb") as file:
            file.write(b"".join([self._line(path), *kept, self._line(path)]))
            file.truncate()

    def _restore(self) -> None:
        """Put a copy in the place of a transcript, as programs that keep backups do."""
        path = self._pick()
        copy = path.with_suffix(".tmp")
        copy.write_bytes(path.read_bytes() + self._line(path))
        copy.replace(path)

    def _rename(self) -> None:
        path = self._pick()
        other = self.root / "projects" / self._draws.choice(PROJECTS) / path.name
        if not other.exists():
            path.rename(other)
            self._lines[other] = self._lines.pop(path)

    def _delete(self) -> None:
        if len(self._lines) > 3:
            path = self._pick()
            path.unlink()
            del self._lines[path]

    def _pick(self) -> Path:
        while not self._lines:
            self._begin()
        return self._draws.choice(sorted(self._lines))

    def _line(self, path: Path) -> bytes:
        number = self._lines[path] = self._lines[path] + 1
        kind = KINDS[number % len(KINDS)]
        text = f"the {self.word()} stands on shelf {number} beside the lantern"
        blocks: dict[str, dict[str, object]] = {
            "prompt": {"type": "text", "text": text},
            "text": {"type": "text", "text": text},
            "thinking": {"type": "thinking", "thinking": text, "signature": ""},
            "call": {"type": "tool_use", "id": f"toolu_{self._numbers}", "name": "Bash", "input": {"command": text}},
            "result": {"type": "tool_result", "tool_use_id": f"toolu_{self._numbers - 1}", "content": text},
        }
        role = "user" if kind in ("prompt", "result") else "assistant"
        message = {"role": role, "content": [blocks[kind]], "id": f"msg_{self._numbers}"}
        uuid = f"{self._numbers:08x}-0000-4000-9000-{self._draws.getrandbits(48):012x}"
        self.written.add(uuid)
        record = {
            "type": role,
            "uuid": uuid,
            "parentUuid": None,
            "sessionId": path.stem,
            "timestamp": f"2026-03-{number % 28 + 1:02}T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "cwd": "/home/mira/src/shop",
            "version": "2.1.100",
            "message": message,
        }
        return json.dumps(record).encode() + b"\n"
