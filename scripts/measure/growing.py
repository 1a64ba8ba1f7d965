"""A root that fills up bit by bit, as a ~/.claude does while sessions run."""

import os
import random
import shutil
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
