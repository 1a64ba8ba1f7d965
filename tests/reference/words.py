"""Words looked for in every text: what a query means, said plainly, and no ranking to copy."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import msgspec

from searchkit.backends.base import Found, Hit, Order, Reach
from searchkit.query.types import Condition, Query
from tests.reference import finding
from tests.reference.catalog import ReferenceCatalog


class ReferenceWords:
    """The words of the parts of a reference catalog."""

    def __init__(self, catalog: ReferenceCatalog) -> None:
        """Take the catalog; nothing is kept beside it."""
        self._catalog = catalog

    def search(self, query: Query, limit: int, order: Order = Order.RELEVANCE, /) -> Found:
        """Return the parts that hold most of what is asked for; a reference, no ranking to copy."""
        catalog = self._catalog
        return finding.find(catalog.keyed(), catalog.positions(), catalog.held(), query, limit, order)

    def scored(self, query: Query, keys: Sequence[int], /) -> list[Hit]:
        """Score these parts for the words of a query; those that hold none of them are left out."""
        found = self.search(msgspec.structs.replace(query, condition=Condition()), self.reach().searchable)
        return [hit for hit in found.hits if hit.key in keys]

    def facets(self, query: Query, name: str, /) -> Mapping[str, int]:
        """Count the parts that answer a query by one of their values."""
        found = self.search(query, self.reach().searchable)
        parts = [stored for stored in self._catalog.stored([hit.key for hit in found.hits]) if stored is not None]
        return finding.counted(parts, self._catalog.held(), name)

    def spelling(self, word: str, /) -> list[str]:
        """Return words that are held somewhere and differ little from this one, the likeliest first."""
        held = {word for _, stored in self._catalog.keyed() for word in finding.words(stored.part.text)}
        return get_close_matches(word.lower(), sorted(held - {word.lower()}))

    def highlight(self, query: Query, text: str, /) -> list[tuple[int, int]]:
        """Return where in a text a word stands that a query asks for, in order."""
        asked = {word for clause in query.clauses for term in clause.terms for word in finding.words(term.text)}
        return [found.span() for found in re.finditer(r"[^\W_]+", text) if set(finding.words(found[0])) & asked]

    def reach(self) -> Reach:
        """Count the parts that a search reaches, which is all of them."""
        return Reach(searchable=sum(stored.repeats is None for _, stored in self._catalog.keyed()), pending=0)
