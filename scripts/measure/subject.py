"""One corpus and what has been measured on it so far, which later measurements build upon."""

import shutil
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

from measure.child import Outcome, run, run_json, searchkit


@dataclass
class Subject:
    """A corpus that may be appended to, room beside it, and how long what must be done at least takes.

    `given` is an index with vectors that somebody made before, of the same corpus.
    `read_floors` are the seconds of reading and parsing it, `word_floors` those of a bare Tantivy writer.
    """

    root: Path
    scratch: Path
    runs: int
    bytes: int
    sizes: list[str]
    given: Path | None = None
    read_floors: list[float] = field(default_factory=list)
    word_floors: list[float] = field(default_factory=list)
    index_seconds: list[float] = field(default_factory=list)
    catalog_seconds: list[float] = field(default_factory=list)

    @property
    def floor(self) -> float:
        """The mean of all floors of reading measured so far."""
        return statistics.mean(self.read_floors)

    @property
    def index(self) -> Path:
        """Where the whole index is, once something has needed it."""
        return self.scratch / "index"

    def built(self) -> Path:
        """Return the whole index, making it where there is none yet."""
        if not self.index.exists():
            self.make_index()
        return self.index

    @property
    def embedded(self) -> Path:
        """Where the index with vectors is, once something has needed it."""
        return self.given or self.scratch / "embedded"

    def with_vectors(self) -> Path:
        """Return the index with vectors, making it where there is none yet, which takes minutes."""
        if not self.embedded.exists():
            self.copy_index()
            run(self.embedding_command(self.embedded))
        return self.embedded

    def copy_index(self) -> None:
        """Begin the index with vectors as a copy of the one without."""
        shutil.copytree(self.built(), self.embedded)

    def embedding_command(self, index: Path) -> list[str]:
        """Write the command line that also embeds."""
        return searchkit("index", "--json", "--root", self.root, "--index", index)

    def make_index(self) -> Outcome:
        """Index end to end into a new directory, as a user would."""
        shutil.rmtree(self.index, ignore_errors=True)
        return run(self.index_command(self.index))

    def index_command(self, index: Path) -> list[str]:
        """Write the command line that indexes the corpus."""
        return searchkit("index", "--no-vectors", "--json", "--root", self.root, "--index", index)

    def work(self, name: str, place: Path) -> float:
        """Do one piece of `measure.work` in a process of its own; return its seconds."""
        return float(run_json([sys.executable, "-m", "measure.work", name, str(self.root), str(place)])["seconds"])
