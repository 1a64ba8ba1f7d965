"""The words of the catalog's parts, in Tantivy: the index derives from the catalog and follows it."""

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from searchkit.backends.base import Found, Hit, Order, Reach
from searchkit.backends.local import layout
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import SIDECHAIN
from searchkit.backends.local.catalog.store import SqliteCatalog
from searchkit.backends.local.filters import Narrowing
from searchkit.backends.local.words import search as finding
from searchkit.backends.local.words.highlight import marks
from searchkit.backends.local.words.index import Indexed, Keyword
from searchkit.backends.local.words.query import Matcher, within
from searchkit.errors import IndexDamaged, IndexFault, IndexMissing, IndexUnwritable
from searchkit.query.types import Condition, Query
from searchkit.text.analysis import prepared
from searchkit.text.language import is_in_french
from searchkit.types import Finding

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# While writing goes on: the first batch of a new index is committed at once, so that a first run can be searched in
# its first second, and each later commit waits for a share of the time that has passed. Tantivy merges eight segments
# of a size into one of the next, so that many small ones cost a second pass over all words.
COMMIT_SECONDS = 3.0
COMMIT_SHARE = 0.25
COMMIT_PARTS = 20_000
# Texts of hits for a pattern: few enough that the best come first, and many enough to share chunks.
LOOKED_AT_ONCE = 200
# Files of the keyword index whose checksums are verified where not all are asked for.
SAMPLED_FILES = 10
# While a keyword index takes the place of another, none is there for a moment; a reader looks so often, so long after.
SWAP_ATTEMPTS = 10
SWAP_PAUSE_SECONDS = 0.05

_INDEXED = f"""
SELECT parts.id, parts.kind, parts.role, parts.session, tool, context, agent, is_error, flags & {SIDECHAIN}, time,
  language, chunk, start, length
FROM parts JOIN records ON records.id = record WHERE repeats IS NULL AND
"""


def _over_swaps(read: "Callable[Concatenate[TantivyWords, P], T]") -> "Callable[Concatenate[TantivyWords, P], T]":
    """Read again where a rebuild renamed the directory under a reader: Tantivy then misses a file, as in damage."""

    @wraps(read)
    def read_again(words: "TantivyWords", /, *arguments: P.args, **options: P.kwargs) -> T:
        for _ in range(SWAP_ATTEMPTS):
            try:
                return read(words, *arguments, **options)
            except (IndexDamaged, IndexMissing):
                if words.is_writable or not words.is_swapping():
                    raise
                words.open_again()
                time.sleep(SWAP_PAUSE_SECONDS)
        return read(words, *arguments, **options)

    return read_again


class TantivyWords:
    """The keyword index of a catalog."""

    def __init__(
        self, catalog: SqliteCatalog, directory: Path, is_writable: bool, on_stale: Callable[[], None]
    ) -> None:
        """Take the catalog; `on_stale` is called in the transaction that clears its list of stale parts."""
        self._catalog = catalog
        self._directory = directory
        self.is_writable = is_writable
        self._on_stale = on_stale
        self._keyword_directory = directory / layout.KEYWORD
        self._keyword: Keyword | None = None
        self._opened_inode: int | None = None
        # The highest part that was handed to the keyword index, and what of it is not committed yet.
        self._handed = 0
        self._uncommitted = 0
        self._began_at = self._committed_at = time.monotonic()
        # The query that was asked last: its other candidates are scored next.
        self._searched: tuple[Query, finding.Search] | None = None
        if is_writable and self._keyword_directory.exists():
            self._check_keyword()

    @_over_swaps
    def is_usable(self) -> bool:
        """Say whether words can be searched, or nothing is there that has any."""
        return self._has_words() or not self._pending(0)

    def keep_up(self) -> None:
        """Hand what was written to the keyword index, whose own thread takes it in, and commit now and then."""
        self._hand_over()
        now = time.monotonic()
        is_first = not self._open_keyword().searcher.num_docs and self._committed_at == self._began_at
        seconds = max(COMMIT_SECONDS, COMMIT_SHARE * (now - self._began_at))
        is_due = now - self._committed_at >= seconds or self._uncommitted >= COMMIT_PARTS
        if self._uncommitted and (is_first or is_due or self._catalog.is_mending):
            self._commit()

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Bring the keyword index up to date with the catalog; told are parts done and parts left."""
        keyword = self._open_keyword()
        keyword.refresh()
        pending = self.reach().pending
        if self._uncommitted or pending or self._is_beside:
            self._follow_words(keyword, pending, on_progress)
        if self._is_beside:
            self._put_words_into_place()
        self._catalog.is_mending = False

    @_over_swaps
    def reach(self) -> Reach:
        """Count the parts that a search for words reaches, and those that it does not reach yet."""
        if self._has_words():
            keyword = self._open_keyword()
            return Reach(searchable=keyword.searcher.num_docs, pending=self._pending(keyword.highest()))
        return Reach(searchable=0, pending=self._pending(0))

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong with the keyword index."""
        place = str(self._keyword_directory)
        from searchkit.backends.local.catalog.checksums import wrong_footers

        for file in wrong_footers(self._keyword_directory, None if is_deep else SAMPLED_FILES):
            detail = "it is not as it was written: run searchkit index --rebuild"
            yield Finding(kind="index: words damaged", file=str(file), line=0, detail=detail)
        try:
            pending = self.reach().pending
            surplus = self._surplus()
        except IndexFault as fault:
            yield Finding(kind="index: no word search", file=place, line=0, detail=fault.message)
            return
        if pending:
            detail = f"{pending} parts are not in it yet: run searchkit index"
            yield Finding(kind="index: words missing", file=place, line=0, detail=detail)
        elif surplus:
            detail = f"it has {surplus:+} parts, compared with the catalog: run searchkit index --rebuild"
            yield Finding(kind="index: words differ", file=place, line=0, detail=detail)

    def begin_rebuild(self) -> None:
        """Index words beside those that are searched.

        Where the catalog is mended, its parts get other numbers while it is read again, by which words that are
        searched must be found at once: these follow it instead, unless they are damaged, too.
        """
        from searchkit.backends.local.catalog.checksums import wrong_footers

        if not self._catalog.is_mending or any(wrong_footers(self._keyword_directory)):
            self._begin_words_beside()

    @_over_swaps
    def search(self, query: Query, limit: int, order: Order = Order.RELEVANCE, /) -> Found:
        """Return the parts that answer a query; repeats are not among them."""
        if not self._has_words():
            return Found(hits=(), total=0)
        demands = finding.demands(query)
        if demands is None:
            with self._open_keyword().reading():
                return finding.find(self._search(query), limit, order)
        ends_at = time.monotonic() + finding.LOOKING_SECONDS
        found = self._matching(query, demands, order, ends_at)
        hidden = 0
        if not found.hits and self._search(query).narrowing:
            everywhere = msgspec.structs.replace(query, condition=Condition())
            hidden = self._matching(everywhere, demands, order, ends_at).total
        return msgspec.structs.replace(found, hits=found.hits[:limit], hidden=hidden)

    @_over_swaps
    def scored(self, query: Query, keys: Sequence[int], /) -> list[Hit]:
        """Score these parts for the words of a query; those that hold none of them are left out."""
        if not self._has_words():
            return []
        last = self._searched
        with self._open_keyword().reading():
            search = last[1] if last is not None and last[0] == query else self._search(query)
            return finding.scored(search, keys)

    def highlight(self, query: Query, text: str, /) -> list[tuple[int, int]]:
        """Return where in a text something stands that a query asks for, in order."""
        return marks(query, text)

    @_over_swaps
    def facets(self, query: Query, name: str, /) -> Mapping[str, int]:
        """Count the parts that answer a query by one of their values."""
        if not self._has_words():
            return {}
        search = self._search(query)
        if finding.demands(query) is not None:
            # What the index knows of a pattern is not enough: only what was seen to match is counted.
            hits = self.search(query, finding.MOST_LOOKED_AT).hits
            search = finding.among(search, [hit.key for hit in hits])
        with self._catalog.reading(), self._open_keyword().reading():
            return finding.facet(search, self._catalog.connection, self._catalog.unpacker, name)

    @_over_swaps
    def spelling(self, word: str, /) -> list[str]:
        """Return words that are held somewhere and differ little from this one, the likeliest first."""
        keyword = self._open_keyword()
        with keyword.reading():
            return finding.similar(keyword.searcher, word)

    def close(self) -> None:
        """Release what is held."""
        self._release_keyword()

    def _follow_words(self, keyword: Keyword, pending: int, on_progress: Callable[[int, int], None]) -> None:
        done = 0
        # Killed while words are rebuilt, it goes on where it was, and what is done can be searched.
        while handed := self._hand_over():
            self._commit()
            done += handed
            on_progress(done, max(0, pending - done))
        self._commit(is_last=True)
        keyword.finish()

    def wipe(self) -> None:
        """Leave nothing on the disk of what is no longer in the catalog."""
        self._begin_words_beside()
        self._follow_words(self._open_keyword(), self.reach().pending, lambda done, left: None)
        self._put_words_into_place()

    def _begin_words_beside(self) -> None:
        """Index words again, while those that are there are still searched."""
        self._release_keyword()
        self._keyword_directory = self._directory / layout.NEW_KEYWORD
        self.drop()

    def _put_words_into_place(self) -> None:
        """Let the words that were indexed beside be searched, and remove the others."""
        self._release_keyword()
        place, old = self._directory / layout.KEYWORD, self._directory / layout.OLD_KEYWORD
        try:
            shutil.rmtree(old, ignore_errors=True)
            if place.exists():
                place.rename(old)
            self._keyword_directory.rename(place)
        except OSError as error:
            raise layout.unwritable(self._directory, error) from error
        self._keyword_directory = old
        self.drop()
        self._keyword_directory = place

    @property
    def _is_beside(self) -> bool:
        """Whether words are being indexed beside those that are searched."""
        return self._keyword_directory.name == layout.NEW_KEYWORD

    def _surplus(self) -> int:
        """Count by how many parts the keyword index has more than the catalog; below 0 it has fewer."""
        if not self._has_words():
            return 0
        with self._catalog.reading():
            wanted = self._catalog.connection.execute("SELECT count(*) FROM parts WHERE repeats IS NULL").fetchone()[0]
        return int(self._open_keyword().refresh().num_docs - wanted)

    def drop(self) -> None:
        self._release_keyword()
        shutil.rmtree(self._keyword_directory, ignore_errors=True)
        if self._keyword_directory.exists():
            # The user who prunes a session must know that its words are still there.
            raise IndexUnwritable(
                f"cannot remove {self._keyword_directory}", "give yourself permission there, then run this again"
            )

    def _matching(self, query: Query, demands: finding.Demands, order: Order, ends_at: float) -> Found:
        """Keep the hits whose texts match; the index only knew that they hold pieces of the patterns."""
        if order is Order.RELEVANCE and demands.is_for_patterns_only:
            # All score the same, so the newest are looked at.
            order = Order.NEWEST
        with self._open_keyword().reading():
            found = finding.find(self._search(query), finding.MOST_LOOKED_AT, order)
        rows = "SELECT id, chunk, start, length FROM parts WHERE id IN"
        keys = [hit.key for hit in found.hits]
        seen: dict[int, bool] = {}
        with self._catalog.reading():
            places = {key: place for key, *place in rows_in(self._catalog.connection, rows, keys)}
            for start in range(0, len(keys), LOOKED_AT_ONCE):
                # In the order in which they lie, so that no chunk is unpacked twice.
                among = sorted(key for key in keys[start : start + LOOKED_AT_ONCE] if key in places)
                texts = ((key, self._catalog.unpacker.text(*places[key])) for key in among)
                seen |= finding.looks(demands, texts, ends_at)
        hits = [hit for hit in found.hits if seen.get(hit.key)]
        unseen = found.total - len(seen) - (len(keys) - len(places))
        return msgspec.structs.replace(found, hits=hits, total=len(hits), unseen=unseen)

    def _search(self, query: Query) -> finding.Search:
        keyword = self._open_keyword()
        searcher = keyword.refresh()
        asked = Matcher(searcher, keyword.schema, is_in_french(query.wanted)).ask(query)
        narrowing = []
        if query.condition.filters or query.condition.periods:
            with self._catalog.reading():
                narrow = Narrowing(self._catalog.connection, self._catalog.unpacker, self._catalog.kept().meant)
                narrowing = within(keyword.schema, narrow.bounds(query.condition))
        search = finding.Search(searcher, keyword.schema, asked, narrowing)
        self._searched = query, search
        return search

    def _has_words(self) -> bool:
        """Say whether there is a keyword index yet; a first run begins without one."""
        for attempt in range(SWAP_ATTEMPTS):
            with suppress(IndexMissing):
                self._open_keyword()
                return True
            beside = (self._directory / name for name in (layout.NEW_KEYWORD, layout.OLD_KEYWORD))
            if self.is_writable or not any(directory.exists() for directory in beside):
                break
            time.sleep(SWAP_PAUSE_SECONDS if attempt else 0)
        return False

    def _pending(self, highest: int) -> int:
        new = "SELECT count(*) FROM parts WHERE id > ? AND repeats IS NULL"
        counts = ((new, (highest,)), ("SELECT count(*) FROM stale",))
        with self._catalog.reading():
            return sum(int(self._catalog.connection.execute(*count).fetchone()[0]) for count in counts)

    def _hand_over(self) -> int:
        """Give parts that came since last time to the keyword index, as many as a commit takes; return how many."""
        keyword = self._open_keyword()
        self._handed = self._handed or keyword.highest()
        written, self._catalog.written = self._catalog.written, None
        if written is not None and self._has_all_before(written.first):
            # Their texts are still in memory, and need not be unpacked.
            keyword.add(map(Indexed._make, written.parts))
            keyword.add(self._indexed(rows_in(self._catalog.connection, f"{_INDEXED} parts.id IN", written.others)))
            self._handed = max(self._handed, written.last)
            handed = len(written.parts) + len(written.others)
            self._uncommitted += handed
            return handed
        rows = self._catalog.connection.execute(
            f"{_INDEXED} parts.id > ? ORDER BY parts.id LIMIT ?", (self._handed, COMMIT_PARTS)
        ).fetchall()
        if rows:
            keyword.add(self._indexed(rows))
            self._handed = rows[-1][0]
            self._uncommitted += len(rows)
        return len(rows)

    def _has_all_before(self, part: int) -> bool:
        """Whether the keyword index was given all parts with lower numbers."""
        missed = "SELECT EXISTS (SELECT 1 FROM parts WHERE id > ? AND id < ? AND repeats IS NULL)"
        return not self._catalog.connection.execute(missed, (self._handed, part)).fetchone()[0]

    def _commit(self, is_last: bool = False) -> None:
        """Take out what is no longer so, commit, and only then forget what was stale.

        The catalog is brought to the disk first: Tantivy's commits outlast a power failure, and what
        they hold must be in a catalog that does, too.
        """
        keyword = self._open_keyword()
        self._catalog.sync()
        # Words that are indexed beside take note of it in the end, so that a kill before does not hide it.
        is_noted = not self._is_beside or is_last
        stale = [row[0] for row in self._catalog.connection.execute("SELECT part FROM stale")] if is_noted else []
        if stale:
            keyword.remove(stale)
            known = [part for part in stale if part <= self._handed]
            keyword.add(self._indexed(rows_in(self._catalog.connection, f"{_INDEXED} parts.id IN", known)))
        keyword.commit()
        if stale:
            with self._catalog.transaction():
                self._on_stale()
                self._catalog.connection.execute("DELETE FROM stale")
        self._uncommitted = 0
        self._committed_at = time.monotonic()

    def _indexed(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Indexed]:
        for row in rows:
            text = self._catalog.unpacker.text(*row[11:])
            yield Indexed._make((*row[:11], *prepared(text, text.encode())))

    def _release_keyword(self) -> None:
        if self._keyword is not None:
            self._keyword.close()
        self._keyword = None
        self._searched = None
        self._handed = self._uncommitted = 0

    def _check_keyword(self) -> None:
        """Throw the keyword index away if it cannot be read, or holds more than a catalog that lost something."""
        try:
            keyword = self._open_keyword()
            keyword.check()
            if keyword.highest() <= self._catalog.last_part():
                return
            log.warning("the keyword index is ahead of the catalog, and is rebuilt from it")
        except IndexDamaged as damage:
            log.warning("%s; it is rebuilt from the catalog", damage.message)
        self.drop()

    def _open_keyword(self) -> Keyword:
        if self._keyword is None:
            self._opened_inode = _inode(self._keyword_directory)
            self._keyword = Keyword(self._keyword_directory, self.is_writable)
        return self._keyword

    def is_swapping(self) -> bool:
        """Whether another process puts other words into place, or has done so since these were opened."""
        beside = (self._directory / name for name in (layout.NEW_KEYWORD, layout.OLD_KEYWORD))
        if any(one.exists() for one in beside):
            return True
        # Without a directory there is nothing to swap: the index is gone.
        return _inode(self._keyword_directory) not in (None, self._opened_inode)

    def open_again(self) -> None:
        """Let go of the words that are open, so that the next read opens those in place."""
        self._release_keyword()


def _inode(directory: Path) -> int | None:
    try:
        return directory.stat().st_ino
    except OSError:
        return None
