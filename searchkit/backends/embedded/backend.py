"""The embedded backend: the catalog, and the stores that derive from it and follow it."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from searchkit.backends.base import Hit, Stored
from searchkit.backends.embedded import reading
from searchkit.backends.embedded.catalog import Catalog
from searchkit.backends.embedded.keyword import Keyword
from searchkit.backends.embedded.layout import KEYWORD
from searchkit.errors import IndexDamaged, IndexFault
from searchkit.types import Finding

# Parts between two reports of progress, some tens of milliseconds of work.
REPORT_PARTS = 500
# Repeats are dropped after the search; where that leaves too few, so many times more are asked for.
MORE_HITS = 4


class EmbeddedBackend(Catalog):
    """A catalog that can be searched."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open what is in `directory`."""
        super().__init__(directory, is_writable)
        self._keyword_directory = directory / KEYWORD
        self._is_writable = is_writable
        self._keyword: Keyword | None = None

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Bring the derived stores up to date with the catalog; told are parts done and parts left."""
        pending = self.pending()
        if pending:
            keyword = self._open_keyword()
            keyword.add(self._texts_after(keyword.highest(), pending, on_progress))

    def pending(self) -> int:
        """Count the parts that a search for words does not reach yet."""
        highest = self._open_keyword().highest()
        return int(self._connection.execute("SELECT count(*) FROM parts WHERE id > ?", (highest,)).fetchone()[0])

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts, in the catalog, and in what derives from it."""
        yield from super().findings()
        place = str(self._keyword_directory)
        try:
            pending = self.pending()
        except IndexFault as fault:
            yield Finding(kind="index: no word search", file=place, line=0, detail=fault.message)
        else:
            if pending:
                detail = f"{pending} parts are not in it yet: run searchkit index"
                yield Finding(kind="index: words missing", file=place, line=0, detail=detail)

    def drop_derived(self) -> None:
        """Throw the derived stores away; `follow` makes them anew from the catalog."""
        self._keyword = None
        shutil.rmtree(self._keyword_directory, ignore_errors=True)

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold; first of all the words of the derived stores."""
        self.drop_derived()
        super().forget(sessions)

    def keyword(self, words: str, limit: int, /) -> list[Hit]:
        """Return the parts that match words best; repeats are not among them."""
        keyword = self._open_keyword()
        asked = limit
        with self._reading():
            while True:
                found = keyword.search(words, asked)
                hits = []
                for number, score in found:
                    stored = next(self._numbered(number), None)
                    if stored is not None and stored.repeats is None:
                        hits.append(Hit(stored=stored, score=score))
                if len(hits) >= limit or len(found) < asked:
                    return hits[:limit]
                asked *= MORE_HITS

    def _texts_after(
        self, number: int, pending: int, on_progress: Callable[[int, int], None]
    ) -> Iterator[tuple[int, str]]:
        rows = self._connection.execute(
            "SELECT id, chunk, start, length FROM parts WHERE id > ? ORDER BY id", (number,)
        )
        for done, (part, *place) in enumerate(rows):
            if done % REPORT_PARTS == 0:
                on_progress(done, max(0, pending - done))
            yield part, self._unpacker.text(*place)

    def _numbered(self, number: int) -> Iterator[Stored]:
        return reading.parts(self._connection, self._unpacker, "parts.id = ?", (number,))

    def _open_keyword(self) -> Keyword:
        if self._keyword is None:
            try:
                self._keyword = Keyword(self._keyword_directory, self._is_writable)
            except IndexDamaged:
                if not self._is_writable:
                    raise
                # Whoever may write makes it anew from the catalog.
                self.drop_derived()
                self._keyword = Keyword(self._keyword_directory, self._is_writable)
        return self._keyword
