"""The keyword index: Tantivy over the texts of the catalog's parts, from which it can always be rebuilt.

It holds words and what parts are filtered by, as numbers of the catalog's, and no text. What it
holds is told by the highest number in it, so that a crash between its commit and the catalog's
repeats nothing and misses nothing.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import tantivy

from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN
from searchkit.backends.local.layout import private
from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable
from searchkit.text.analysis import ANALYZER

TEXT = "text"
# Whole numbers by which parts are filtered, counted and sorted.
NUMBERS = ("part", "kind", "role", "session", "tool", "context", "agent", "state", "language", "time")
# The heap bounds what is held before a flush. With two threads, indexing beside reading took no less time.
HEAP_BYTES = 48 << 20
_ANALYZER_NAME = "searchkit"
# Tantivy writes meta.json and .managed.json through temporary files, which a kill leaves behind.
_DRAFTS = ".tmp*"
# So much of what Tantivy says of damage is told.
MOST_SAID = 200
HINT = "run: searchkit index, which rebuilds it from the catalog and touches nothing else"


class Indexed(NamedTuple):
    """A part as it is indexed. A tuple, because every part becomes one."""

    part: int
    kind: int
    role: int
    session: int
    tool: int | None
    context: int
    agent: int | None
    is_error: bool
    is_sidechain: bool
    time: int | None
    language: int
    words: str
    names: str


class Keyword:
    """An open keyword index."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open the index in `directory`, making it where it is to be written and is not there."""
        if is_writable:
            directory.mkdir(mode=0o700, exist_ok=True)
        elif not directory.is_dir():
            raise IndexMissing(f"there is no keyword index in {directory.parent}", "run: searchkit index")
        self._directory = directory
        self._writer: tantivy.IndexWriter | None = None
        self._umask = 0
        # Looking through all documents takes longer than a search, so what was found is kept with what it was found in.
        self._highest: tuple[tuple[int, int, int], int] | None = None
        # Which commit is searched: one of another index in the same place may have as many documents.
        self._commit = 0
        with self.reading():
            self._index = self._made() if is_writable else self._opened()
            self._index.register_tokenizer(_ANALYZER_NAME, ANALYZER)
        self.schema = self._index.schema
        self.searcher = self.refresh()

    def _made(self) -> tantivy.Index:
        with private():
            return tantivy.Index(_schema(), path=str(self._directory), reuse=True)

    def _opened(self) -> tantivy.Index:
        """Open what is there; where nothing is yet, a reader must make nothing."""
        if not tantivy.Index.exists(str(self._directory)):
            raise IndexMissing(f"there is no keyword index in {self._directory.parent} yet", "run: searchkit index")
        return tantivy.Index.open(str(self._directory))

    def refresh(self) -> tantivy.Searcher:
        """Return what searches the last commit; `searcher` is that too, until this is called again."""
        with self.reading():
            self._commit = (self._directory / "meta.json").stat().st_mtime_ns
            self._index.reload()
            self.searcher = self._index.searcher()
        return self.searcher

    def highest(self) -> int:
        """Return the highest number of a part in the commit that is searched, 0 where it is empty."""
        searcher = self.searcher
        state = (searcher.num_docs, searcher.num_segments, self._commit)
        if self._highest is None or self._highest[0] != state:
            with self.reading():
                found = searcher.search(tantivy.Query.all_query(), limit=1, count=False, order_by_field="part").hits
            self._highest = state, int(found[0][0]) if found else 0
        return self._highest[1]

    def check(self) -> None:
        """Raise unless all kinds of files can be read: numbers, words, and where they stand."""
        self.highest()
        with self.reading():
            self.searcher.search(tantivy.Query.phrase_query(self.schema, TEXT, ["of", "the"]), limit=1)

    def add(self, parts: Iterable[Indexed]) -> None:
        """Hand parts over; they are found after the next commit."""
        writer = self._open_writer()
        with self._trouble():
            for part in parts:
                writer.add_document(_document(part))

    def remove(self, parts: Iterable[int]) -> None:
        """Take parts out; they are found until the next commit."""
        writer = self._open_writer()
        with self._trouble():
            for part in parts:
                writer.delete_documents_by_term("part", part)

    def commit(self) -> None:
        """Let what was handed over be found."""
        writer = self._open_writer()
        with self._trouble():
            writer.commit()

    def finish(self) -> None:
        """Wait until what was committed is in its best shape, and let go of the memory for writing."""
        writer = self._open_writer()
        with self._trouble():
            writer.wait_merging_threads()
        self.close()

    def close(self) -> None:
        """Let go of the memory for writing; what was not committed is lost."""
        if self._writer is not None:
            self._writer = None
            os.umask(self._umask)

    def _open_writer(self) -> tantivy.IndexWriter:
        if self._writer is None:
            with private(), self._trouble():
                for draft in self._directory.glob(_DRAFTS):
                    draft.unlink(missing_ok=True)
                self._writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
            # Its threads make files whenever they like, in the mode that the process grants.
            self._umask = os.umask(0o077)
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what Tantivy reports while it is read into an error that says what to do."""
        try:
            yield
        except BaseException as error:
            # Damage that Tantivy does not expect ends in a panic, which is no Exception.
            if not isinstance(error, (ValueError, OSError)) and type(error).__name__ != "PanicException":
                raise
            if not self._directory.is_dir():
                raise IndexMissing(f"the keyword index in {self._directory.parent} is gone", HINT) from error
            # Tantivy quotes a whole file where its end is missing.
            said = " ".join(str(error).split())[:MOST_SAID]
            raise IndexDamaged(f"{self._directory} is damaged: {said}", HINT) from error

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            hint = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
            raise IndexUnwritable(f"cannot write the keyword index: {error}", hint) from error


def values(searcher: tantivy.Searcher, name: str, addresses: Sequence[tantivy.DocAddress]) -> list[int]:
    """Return one of `NUMBERS` of some documents; 0 where it has none."""
    return [int(value or 0) for value in searcher.fast_field_values(name, list(addresses))]


def _document(indexed: Indexed) -> tantivy.Document:
    part, kind, role, session, tool, context, agent, is_error, is_sidechain, time, language, words, names = indexed
    fields: dict[str, int | str | list[int] | list[str]] = {
        "part": part,
        "kind": kind,
        "role": role,
        "session": session,
        "context": context,
        TEXT: [words, names] if names else words,
    }
    if tool is not None:
        fields["tool"] = tool
    if agent is not None:
        fields["agent"] = agent
    if language:
        fields["language"] = language
    if time is not None:
        fields["time"] = time
    if is_error or is_sidechain:
        fields["state"] = [IS_ERROR] * bool(is_error) + [IS_SIDECHAIN] * bool(is_sidechain)
    # All at once takes three quarters of the time that it takes one by one.
    return tantivy.Document(**fields)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in NUMBERS:
        builder.add_integer_field(name, indexed=name != "time", fast=True)
    builder.add_text_field(TEXT, tokenizer_name=_ANALYZER_NAME)
    return builder.build()
