"""Finds the parts that answer a query: Tantivy ranks, and what is asked for decides how high a score can be."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import tantivy

from searchkit.backends.base import Found, Hit, Order
from searchkit.backends.local.catalog.schema import KINDS
from searchkit.backends.local.words.index import values
from searchkit.backends.local.words.query import Asked, Unit

# A score is a float of 24 bits: so many units can each have a bit of their own.
UNITS_AT_ONCE = 24

Clauses = list[tuple[tantivy.Occur, tantivy.Query]]


class Search(NamedTuple):
    """What is asked, and what narrows it."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    asked: Asked
    narrowing: Clauses


def find(search: Search, limit: int, order: Order) -> Found:
    """Return the best hits, or the first in time."""
    asked = search.asked
    if asked.is_hopeless:
        return Found(hits=(), total=0, missing=asked.missing)
    if order is Order.RELEVANCE and (asked.wanted or asked.required):
        addresses, scores, count = _best(search, limit)
    else:
        addresses, count = _in_time(search, limit, order)
        scores = [asked.maximum] * len(addresses)
    hidden = 0
    if not addresses and search.narrowing:
        hidden = _count(search.searcher.search(wanted(search._replace(narrowing=[])), limit=1))
    hits = _hits(search, addresses, scores)
    return Found(hits=hits, total=count, missing=asked.missing, hidden=hidden)


def among(search: Search, parts: Sequence[int]) -> Search:
    """Ask for these parts instead, whatever was asked."""
    numbers = tantivy.Query.term_set_query(search.schema, "part", list(parts)) if parts else tantivy.Query.empty_query()
    nothing = Asked(False, [], [], [], [], [])
    return search._replace(asked=nothing, narrowing=[(tantivy.Occur.Must, numbers)])


def _best(search: Search, limit: int) -> tuple[list[tantivy.DocAddress], list[float], int]:
    """Return the parts with the highest scores; of more equals than are wanted, the newest."""
    query = wanted(search)
    found = search.searcher.search(query, limit=limit)
    scores = [float(score) for score, _ in found.hits]
    if _count(found) > limit and scores[0] == scores[-1]:
        newest = search.searcher.search(query, limit=limit, order_by_field="time", order=tantivy.Order.Desc).hits
        return [address for _, address in newest], scores, _count(found)
    return [address for _, address in found.hits], scores, _count(found)


def wanted(search: Search, is_all: bool = False) -> tantivy.Query:
    """Build the whole query: one of the words will do, or all must be there."""
    asked = search.asked
    occur = tantivy.Occur.Must if is_all else tantivy.Occur.Should
    should: Clauses = [(occur, unit.ranking) for unit in asked.wanted]
    extras: Clauses = [(tantivy.Occur.Should, unit.ranking) for unit in asked.extras]
    clauses: Clauses = [(tantivy.Occur.Must, unit.ranking) for unit in asked.required]
    clauses += [(tantivy.Occur.MustNot, query) for query in asked.excluded]
    clauses += search.narrowing
    if not clauses:
        return tantivy.Query.boolean_query(should + extras) if should else tantivy.Query.all_query()
    if asked.required and not is_all:
        clauses += should + extras
    elif should:
        # Beside clauses that must hold Tantivy takes the others for optional, so they become one that must.
        clauses.append((tantivy.Occur.Must, tantivy.Query.boolean_query(should + extras)))
    elif not asked.required:
        clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)))
    return tantivy.Query.boolean_query(clauses)


def _in_time(search: Search, limit: int, order: Order) -> tuple[list[tantivy.DocAddress], int]:
    """Return the first or last parts that hold all that is asked for, or, where none does, any of it."""
    direction = tantivy.Order.Asc if order is Order.OLDEST else tantivy.Order.Desc
    for is_all in (True, False):
        query = wanted(search, is_all)
        found = search.searcher.search(query, limit=limit, order_by_field="time", order=direction)
        if found.hits:
            break
    return [address for _, address in found.hits], _count(found)


def _count(found: tantivy.SearchResult) -> int:
    return int(found.count)  # type: ignore[attr-defined]  # its stub lacks it


def _hits(search: Search, addresses: Sequence[tantivy.DocAddress], scores: Sequence[float]) -> list[Hit]:
    if not addresses:
        return []
    columns = {name: values(search.searcher, name, addresses) for name in ("part", "kind", "session", "time", "agent")}
    parts = columns["part"]
    covered = _coverage(search, parts)
    most = search.asked.maximum or 1.0
    return [
        Hit(
            key=part,
            # Parts are numbered as they are read: file by file, line by line.
            position=part,
            kind=KINDS[kind],
            session=session,
            time=time or None,
            is_agents=agent > 0,
            score=score / most,
            coverage=covered.get(part, 0.0),
        )
        for part, kind, session, time, agent, score in zip(*columns.values(), scores, strict=True)
    ]


def _coverage(search: Search, parts: Sequence[int]) -> dict[int, float]:
    """Return, for each part, the share of what was asked for that it holds."""
    units = [*search.asked.wanted, *search.asked.required]
    whole = sum(unit.worth for unit in units)
    if len(units) <= 1 or not whole:
        return dict.fromkeys(parts, 1.0)
    held = dict.fromkeys(parts, 0.0)
    for start in range(0, len(units), UNITS_AT_ONCE):
        for part, worth in _held(search, parts, units[start : start + UNITS_AT_ONCE]):
            held[part] += worth
    return {part: worth / whole for part, worth in held.items()}


def _held(search: Search, parts: Sequence[int], units: Sequence[Unit]) -> Iterable[tuple[int, float]]:
    """Yield the parts and the worth of the units they hold.

    Each unit scores a power of two, so that a part's score says in its bits which ones it holds: one
    query instead of one for every unit. (A set query over the parts took five times as long as this.)
    """
    numbers = (tantivy.Query.term_query(search.schema, "part", part) for part in parts)
    among = tantivy.Query.boolean_query([(tantivy.Occur.Should, number) for number in numbers])
    clauses: Clauses = [(tantivy.Occur.Must, tantivy.Query.const_score_query(among, 0.0))]
    clauses += [
        (tantivy.Occur.Should, tantivy.Query.const_score_query(unit.holding, float(1 << bit)))
        for bit, unit in enumerate(units)
    ]
    found = search.searcher.search(tantivy.Query.boolean_query(clauses), limit=len(parts), count=False).hits
    found_parts = values(search.searcher, "part", [address for _, address in found])
    worth_of: dict[int, float] = {}
    for number, (score, _) in zip(found_parts, found, strict=True):
        bits = int(score)
        if bits not in worth_of:
            worth_of[bits] = sum(unit.worth for bit, unit in enumerate(units) if bits >> bit & 1)
        yield number, worth_of[bits]
