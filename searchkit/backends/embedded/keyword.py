"""The keyword index: Tantivy over the texts of the catalog's parts, from which it can always be rebuilt.

It holds numbers of parts and words, no text. What it holds is told by the highest number in
it, so that a crash between its commit and the catalog's repeats nothing and misses nothing.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tantivy

from searchkit.errors import IndexDamaged, IndexMissing, IndexUnwritable

# One thread, because a second showed no gain from Python; the heap bounds what is held before a flush.
HEAP_BYTES = 32 << 20
# Parts between two commits. Tantivy merges eight segments of a size into one of the next: with this many
# in the smallest, a merge maps 60 MB at most until a catalog holds more than a million parts.
COMMIT_PARTS = 20_000
# Chinese, Japanese and Korean: the tokenizer makes one word of a whole run, in which nothing is found.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


class Keyword:
    """An open keyword index."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open the index in `directory`, making it where it is to be written and is not there."""
        hint = "run: searchkit index, which makes it anew from the catalog"
        if is_writable:
            directory.mkdir(mode=0o700, exist_ok=True)
        elif not directory.is_dir():
            raise IndexMissing(f"there is no keyword index in {directory.parent}", "run: searchkit index")
        try:
            with _private():
                self._index = tantivy.Index(_schema(), path=str(directory), reuse=True)
        except ValueError as error:
            raise IndexDamaged(f"{directory} is damaged: {error}", hint) from error

    def highest(self) -> int:
        """Return the highest number of a part in the index, 0 where it is empty."""
        self._index.reload()
        searcher = self._index.searcher()
        found = searcher.search(tantivy.Query.all_query(), limit=1, count=False, order_by_field="part").hits
        return int(found[0][0]) if found else 0

    def add(self, texts: Iterable[tuple[int, str]]) -> None:
        """Add parts, and commit every so many of them and at the end."""
        try:
            with _private():
                writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1)
                for count, (number, text) in enumerate(texts, 1):
                    writer.add_document(tantivy.Document(part=number, text=text, pairs=" ".join(_pairs(text))))
                    if count % COMMIT_PARTS == 0:
                        writer.commit()
                writer.commit()
                writer.wait_merging_threads()
        except (ValueError, OSError) as error:
            hint = "make room or give yourself permission there, then run searchkit index again; nothing is lost"
            raise IndexUnwritable(f"cannot write the keyword index: {error}", hint) from error

    def search(self, words: str, limit: int) -> list[tuple[int, float]]:
        """Return the numbers and scores of the parts that match best; any text is a valid query."""
        self._index.reload()
        schema = self._index.schema
        terms = [("text", word) for word in _ANALYZER.analyze(words)] + [("pairs", pair) for pair in _pairs(words)]
        asked = [tantivy.Query.term_query(schema, field, term) for field, term in terms]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in asked])
        searcher = self._index.searcher()
        hits = searcher.search(query, limit=limit, count=False).hits
        numbers = searcher.fast_field_values("part", [address for _, address in hits])
        return [(int(number or 0), float(score)) for number, (score, _) in zip(numbers, hits, strict=True)]


def _pairs(text: str) -> Iterator[str]:
    """Yield every two adjacent characters of scripts that put no spaces between words."""
    for run in _UNSPACED.findall(text):
        yield from (run[start : start + 2] for start in range(len(run) - 1))


@contextmanager
def _private() -> Iterator[None]:
    """Let only the owner read what is made meanwhile; Tantivy takes the mode that the process grants."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


# What Tantivy calls en_stem, to take a question apart as the texts were.
_ANALYZER = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(40))
    .filter(tantivy.Filter.lowercase())
    .filter(tantivy.Filter.stemmer("english"))
    .build()
)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("part", fast=True, indexed=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_text_field("pairs", tokenizer_name="whitespace")
    return builder.build()
