"""The embedded backend: the catalog, and the stores that derive from it and follow it."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from searchkit.backends.base import Hit, Stored
from searchkit.backends.embedded import reading
from searchkit.backends.embedded.catalog import Catalog
from searchkit.backends.embedded.keyword import Keyword
from searchkit.backends.embedded.layout import KEYWORD

# Parts handed to the keyword index between two commits of it.
FOLLOW_PARTS = 50_000
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

    def follow(self) -> None:
        """Bring the derived stores up to date with the catalog."""
        keyword = self._open_keyword()
        while keyword.highest() < (last := self._last_part()):
            keyword.add(self._texts_between(keyword.highest(), last))

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

    def _last_part(self) -> int:
        return int(self._connection.execute("SELECT ifnull(max(id), 0) FROM parts").fetchone()[0])

    def _texts_between(self, first: int, last: int) -> Iterator[tuple[int, str]]:
        """Yield the texts behind one number up to another, as many as one commit should hold."""
        rows = self._connection.execute(
            "SELECT id, chunk, start, length FROM parts WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
            (first, last, FOLLOW_PARTS),
        )
        for part, *place in rows:
            yield part, self._unpacker.text(*place)

    def _numbered(self, number: int) -> Iterator[Stored]:
        return reading.parts(self._connection, self._unpacker, "parts.id = ?", (number,))

    def _open_keyword(self) -> Keyword:
        if self._keyword is None:
            self._keyword = Keyword(self._keyword_directory, self._is_writable)
        return self._keyword
