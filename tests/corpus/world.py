"""What all files of a corpus share: the seed, the projects, the ledger, and what the manifest lists."""

import hashlib
import random
import re
import time
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from tests.corpus.ledger import Ledger
from tests.corpus.samples import Samples
from tests.corpus.story import Story
from tests.corpus.text import Text

MAX_PLANTED = 300
MAX_INDEXED = 60  # entries of one sessions-index.json; Claude Code prunes it too
LONGEST_PROJECT_NAME = 200  # FORMAT, fact 13
START_MS = 1_757_000_000_000  # 2025-09-04, where the measured transcripts begin
NAMES = "shop-api ledger atlas notes-app crawler billing game-engine blog infra router ml-lab design-system".split()
HOMES = ("/home/mira/src/{}", "/Users/jun.kim/code/{}", "C:\\Users\\Ana\\dev\\{}", "/srv/{}", "/home/li/工作/{}")
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


class Project:
    """A working directory: its name below projects/, its files, and which of them a tool has touched."""

    def __init__(self, cwd: str, text: Text) -> None:
        self.cwd = cwd
        self.is_twin = False
        self.directory = munged(cwd)
        separator = "\\" if "\\" in cwd else "/"
        picked = text.rng.sample(text.paths, 90)
        self.files = [cwd + separator + path.replace("/", separator) for path in picked]
        self.touched: list[str] = []
        self.index: list[dict[str, Any]] = []

    def twin(self, text: Text) -> "Project":
        """Return the same project with the drive in the other letter case, as some terminals write it."""
        other = Project(self.cwd[:1].swapcase() + self.cwd[1:], text)
        # The files keep their names: whether case makes another file is not what the corpus asks.
        other.files, other.touched, other.is_twin = self.files, self.touched, True
        return other


class World:
    """A corpus being written below one root."""

    def __init__(self, root: Path, seed: int, mb: float) -> None:
        self.root = root
        self.mb = float(mb)
        self.rng = random.Random(seed)
        self.text = Text(self.rng)
        self.ledger = Ledger()
        self.projects = [Project(cwd, self.text) for cwd in _directories()]
        self.projects += [project.twin(self.text) for project in self.projects if "\\" in project.cwd]
        self.samples = Samples(seed)
        self.told: list[Story] = []
        # What must not depend on luck, even in a small corpus, is written every so often.
        self.delegated = self.branches = self.leavings = self.boundaries = self.crossings = 0
        self.planted: list[dict[str, Any]] = []
        self.notes: dict[str, str] = {}
        self.era_bytes = {"old": 0, "progress": 0, "attachment": 0}
        self._numbers = 0
        self._made: set[str] = set()
        root.mkdir(parents=True, exist_ok=True)
        self.history: BinaryIO = (root / "history.jsonl").open("wb")

    def uuid(self) -> str:
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def number(self) -> int:
        """Return a number that no other text of the corpus was given."""
        self._numbers += 1
        return self._numbers

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def word(self) -> str:
        """Return a made-up word that occurs nowhere else."""
        number, letters = self.number(), "qu"
        for _ in range(4):
            number, consonant = divmod(number, len(CONSONANTS))
            letters += self.rng.choice(VOWELS) + CONSONANTS[consonant]
        return letters + "yx"

    def folder(self, path: Path) -> Path:
        """Make the directory of a file once; asking the file system each time is slow."""
        name = str(path.parent)
        if name not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            if len(self._made) > 5_000:
                self._made.clear()
            self._made.add(name)
        return path

    def side_file(self, path: Path, content: bytes) -> None:
        self.folder(path).write_bytes(content)

    def touch(self, project: Project, path: str) -> None:
        if path not in self.ledger.touched:
            self.ledger.touched.add(path)
            project.touched.append(path)

    def settle(self) -> None:
        """Count and sample what was written since the last time, and forget it."""
        self.ledger.settle()
        for story in self.told:
            self.samples.take(story)
        self.told.clear()

    def manifest(self, seed: int) -> dict[str, Any]:
        return {
            "seed": seed,
            "mb": self.mb,
            "bytes": self.ledger.bytes,
            "counts": self.ledger.counts(),
            "planted": self.planted,
            "messages": self.ledger.messages,
            "threads": self.samples.listed(),
        }


def munged(cwd: str) -> str:
    """Name the project directory of a working directory as Claude Code does."""
    name = re.sub("[^A-Za-z0-9]", "-", cwd)
    if len(name) <= LONGEST_PROJECT_NAME:
        return name
    return f"{name[:LONGEST_PROJECT_NAME]}-{hashlib.sha256(cwd.encode()).hexdigest()[:6]}"


def iso(milliseconds: int) -> str:
    """Write a time as the transcripts do."""
    seconds, rest = divmod(milliseconds, 1_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03d}Z"


def dumped(value: Any) -> bytes:
    return orjson.dumps(value)


def _directories() -> list[str]:
    plain = [HOMES[number % len(HOMES)].format(name) for number, name in enumerate(NAMES)]
    worktrees = [f"/home/mira/src/shop-api/.worktrees/feature-{number}" for number in range(3)]
    return [*plain, *worktrees, "/home/mira/" + "/".join(["deeply-nested-directory"] * 9)]
