"""Finds the parts that answer a query: Tantivy ranks, and what is asked for decides how high a score can be."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

import tantivy

from searchkit.backends.base import Found, Hit, Order
from searchkit.backends.local.catalog.schema import KINDS
from searchkit.backends.local.words.index import values
from searchkit.backends.local.words.query import Asked, Unit, all_of, any_of

# A score is a float of 24 bits: so many units can each have a bit of their own.
UNITS_AT_ONCE = 24

# Of one or two words either is a match. Of more than so many the rarest decide: there are 35 halves of seven.
LEAST_HALVED = 3
MOST_HALVED = 7

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
    if order is Order.RELEVANCE:
        hits += _unique(search, {hit.key for hit in hits})
    half = _half(search) if count else None
    # Of those that hold half, or of all where none does.
    matches = (_count(search.searcher.search(half, limit=1)) or count) if half is not None else None
    return Found(hits=hits, total=count, matches=matches, missing=asked.missing, hidden=hidden)


def scored(search: Search, parts: Sequence[int]) -> list[Hit]:
    """Score some parts; those that hold none of the words are left out."""
    asked = search.asked
    if not parts or asked.is_hopeless or not (asked.wanted or asked.required):
        return []
    return _all_of(search._replace(narrowing=[(tantivy.Occur.Must, _numbered(search, parts))]), len(parts))


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


def _unique(search: Search, known: Collection[int]) -> list[Hit]:
    """Return the parts that hold unique words and are not among the best, as very long ones are not."""
    units = search.asked.unique(search.searcher.num_docs)
    if not units:
        return []
    holding = tantivy.Query.const_score_query(any_of(unit.holding for unit in units), 0.0)
    narrowed = search._replace(narrowing=[*search.narrowing, (tantivy.Occur.Must, holding)])
    return [hit for hit in _all_of(narrowed, sum(unit.held_by or 0 for unit in units)) if hit.key not in known]


def _all_of(search: Search, limit: int) -> list[Hit]:
    found = search.searcher.search(wanted(search), limit=limit, count=False).hits
    return _hits(search, [address for _, address in found], [float(score) for score, _ in found])


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


def matched(search: Search) -> tantivy.Query:
    """Ask for what holds at least half of what was asked for, rare words counting more; or any of it where none does.

    What holds one of five words is ranked, but nobody would call it a match.
    """
    half = _half(search)
    return half if half is not None and _count(search.searcher.search(half, limit=1)) else wanted(search)


def _half(search: Search) -> tantivy.Query | None:
    """Ask for what holds half of the words; None where there are so few that one of them is a match."""
    if len(search.asked.wanted) < LEAST_HALVED or search.asked.required:
        return None
    units = sorted(search.asked.wanted, key=lambda unit: -unit.worth)[:MOST_HALVED]
    halves = tantivy.Query.const_score_query(
        any_of(all_of(unit.holding for unit in half) for half in _halves(units)), 0.0
    )
    clauses: Clauses = [(tantivy.Occur.Must, halves), *search.narrowing]
    clauses += [(tantivy.Occur.MustNot, query) for query in search.asked.excluded]
    return tantivy.Query.boolean_query(clauses)


def _halves(units: Sequence[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Yield the smallest sets of units that are worth half of all; units come by their worth, the highest first."""
    half = sum(unit.worth for unit in units) / 2
    for size in range(1, len(units) + 1):
        for several in combinations(units, size):
            worth = sum(unit.worth for unit in several)
            # Without the least of them it must be less than half, or a smaller set says the same.
            if worth >= half > worth - several[-1].worth:
                yield several


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
    units = [*search.asked.wanted, *search.asked.required]
    held = _held(search, parts, units)
    coverage, unique = _share(units), _share(search.asked.unique(search.searcher.num_docs), 0.0)
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
            coverage=coverage(held[part]),
            unique=unique(held[part]),
        )
        for part, kind, session, time, agent, score in zip(*columns.values(), scores, strict=True)
    ]


def _share(units: Sequence[Unit], otherwise: float = 1.0) -> Callable[[frozenset[int]], float]:
    """Return what tells, by the units that a part holds, its share of the worth of these."""
    worth = {id(unit): unit.worth for unit in units}
    whole = sum(worth.values())

    @cache
    def share(held: frozenset[int]) -> float:
        return sum(worth.get(unit, 0.0) for unit in held) / whole if whole else otherwise

    return share


def _held(search: Search, parts: Sequence[int], units: Sequence[Unit]) -> Mapping[int, frozenset[int]]:
    """Return, for each part, which of the units it holds.

    Each unit scores a power of two, so that a part's score says in its bits which ones it holds: one
    query instead of one for every unit.
    """
    if len(units) <= 1:
        return dict.fromkeys(parts, frozenset(map(id, units)))
    held = dict.fromkeys(parts, frozenset[int]())
    for start in range(0, len(units), UNITS_AT_ONCE):
        several = units[start : start + UNITS_AT_ONCE]
        clauses: Clauses = [(tantivy.Occur.Must, _numbered(search, parts))]
        clauses += [
            (tantivy.Occur.Should, tantivy.Query.const_score_query(unit.holding, float(1 << bit)))
            for bit, unit in enumerate(several)
        ]
        found = search.searcher.search(tantivy.Query.boolean_query(clauses), limit=len(parts), count=False).hits
        numbers = values(search.searcher, "part", [address for _, address in found])
        seen: dict[int, frozenset[int]] = {}
        for number, (score, _) in zip(numbers, found, strict=True):
            bits = int(score)
            if bits not in seen:
                seen[bits] = frozenset(id(unit) for bit, unit in enumerate(several) if bits >> bit & 1)
            held[number] |= seen[bits]
    return held


def _numbered(search: Search, parts: Sequence[int]) -> tantivy.Query:
    """Ask for these parts; a set query over them took five times as long as this."""
    numbers = (tantivy.Query.term_query(search.schema, "part", part) for part in parts)
    either = tantivy.Query.boolean_query([(tantivy.Occur.Should, number) for number in numbers])
    return tantivy.Query.const_score_query(either, 0.0)
