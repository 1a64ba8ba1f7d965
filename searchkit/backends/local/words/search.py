"""Finds the parts that answer a query: Tantivy ranks, and what is asked for decides how high a score can be."""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import combinations
from typing import NamedTuple

import tantivy

from searchkit.backends.base import Found, Hit, Order
from searchkit.backends.local.catalog import sessions as telling
from searchkit.backends.local.catalog.ids import rows_in
from searchkit.backends.local.catalog.schema import IS_ERROR, IS_SIDECHAIN, KINDS, NUMBERED
from searchkit.backends.local.catalog.texts import Unpacker
from searchkit.backends.local.words.highlight import difference, marks
from searchkit.backends.local.words.index import TEXT, values
from searchkit.backends.local.words.query import MOST_CHUNKS, Asked, Unit, all_of, any_of, looked_at
from searchkit.backends.local.words.regex import is_match, spans_words
from searchkit.errors import UsageError
from searchkit.query.filters import BY_NAME, FACETS
from searchkit.query.types import Clause, Match, Query, Term
from searchkit.text.analysis import fuzzy_distance, words
from searchkit.types import Kind

# A score is a float of 24 bits: so many units can each have a bit of their own.
UNITS_AT_ONCE = 24

# Of one or two words either is a match. Of more than so many the rarest decide: there are 35 halves of seven.
LEAST_HALVED = 3

MOST_HALVED = 7

Clauses = list[tuple[tantivy.Occur, tantivy.Query]]

# What is looked at for one question, the best first, and for how long.
MOST_LOOKED_AT = 2_000

LOOKING_SECONDS = 1.0

# More different values than any history has sessions.
MOST_VALUES = 65_000

# Time is counted in pieces that never cross a day, in any zone: zones differ by quarters of an hour.
_QUARTER_HOUR = 15 * 60 * 1000

# A state that the index does not keep as such, because the kind says it.
SUMMARY = 0

_DATES = {"month": "%Y-%m", "day": "%Y-%m-%d"}

# Shorter words resemble too many others.
SHORTEST = 4

MOST = 3

# Words whose first letters agree: the commonest of so many are looked at.
LOOKED_AT = 5_000

# People mistype the end of a word more often than its beginning.
_PREFIX = 2


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


class Either(NamedTuple):
    """A clause with patterns that span words, any of which will do, or else one of its other terms."""

    patterns: tuple[str, ...]
    others: Query | None


class Demands(NamedTuple):
    """What texts must be looked at for: one of `wanted`, all of `required`, and nothing that is excluded."""

    wanted: list[Either]
    required: list[Either]
    excluded: list[str]
    is_for_patterns_only: bool


def demands(query: Query) -> Demands | None:
    """Return what a query demands that only a look at the texts can tell, or None."""
    clauses = looked_at(query, MOST_CHUNKS)
    excluded = [pattern for clause in clauses if clause.is_excluded for pattern in _spanning(clause)]
    asked = [clause for clause in clauses if not clause.is_excluded]
    required = [_either(clause) for clause in asked if clause.is_required and _spanning(clause)]
    wanted: list[Either] = []
    if not any(clause.is_required for clause in asked) and any(map(_spanning, asked)):
        wanted = [_either(clause) for clause in asked]
    if not (wanted or required or excluded):
        return None
    terms = [term for clause in asked for term in clause.terms]
    return Demands(wanted, required, excluded, all(term.match is Match.REGEX for term in terms))


def looks(demanded: Demands, texts: Iterable[tuple[int, str]], ends_at: float) -> Iterator[tuple[int, bool]]:
    """Yield the keys of the texts that could be looked at in time, and whether they have what is demanded."""
    for key, text in texts:
        if time.monotonic() >= ends_at:
            return
        try:
            yield key, _has(demanded, text, ends_at)
        except TimeoutError:
            continue


def _has(demanded: Demands, text: str, ends_at: float) -> bool:
    if any(_matches(pattern, text, ends_at) for pattern in demanded.excluded):
        return False
    if not all(_holds(either, text, ends_at) for either in demanded.required):
        return False
    return not demanded.wanted or any(_holds(either, text, ends_at) for either in demanded.wanted)


def _holds(either: Either, text: str, ends_at: float) -> bool:
    if either.others is not None and marks(either.others, text):
        return True
    return any(_matches(pattern, text, ends_at) for pattern in either.patterns)


def _matches(pattern: str, text: str, ends_at: float) -> bool:
    return is_match(pattern, text, ends_at - time.monotonic())


def _either(clause: Clause) -> Either:
    patterns = _spanning(clause)
    others = tuple(_one_thing(clause, term) for term in clause.terms if term.text not in patterns)
    return Either(patterns, Query(text="", clauses=(Clause(terms=others),)) if others else None)


def _one_thing(clause: Clause, term: Term) -> Term:
    """Demand of alternatives what the index does: several words without blanks follow each other."""
    is_several = len(clause.terms) > 1 and term.match is Match.WORD and len(words(term.text)) > 1
    return Term(text=term.text, match=Match.PHRASE) if is_several else term


def _spanning(clause: Clause) -> tuple[str, ...]:
    return tuple(term.text for term in clause.terms if term.match is Match.REGEX and spans_words(term.text))


def facet(search: Search, connection: sqlite3.Connection, unpacker: Unpacker, name: str) -> Mapping[str, int]:
    """Return how many parts have which value, the most frequent first; months and days in order."""
    if name not in FACETS:
        raise UsageError(f"{name} is not a facet", f"use one of {', '.join(FACETS)}")
    if search.asked.is_hopeless:
        return {}
    if name in _DATES:
        return _dates(search, _DATES[name])
    if name in NUMBERED:
        return _named(_counts(search, name), NUMBERED[name])
    if name == "is":
        of_kind = {SUMMARY: _counts(search, "kind").get(KINDS.index(Kind.SUMMARY), 0)}
        states = {IS_ERROR: "error", IS_SIDECHAIN: "sidechain", SUMMARY: "summary"}
        counts = _counts(search, "state") | of_kind
        return _named({number: count for number, count in counts.items() if count}, states)
    if name in ("tool", "agent"):
        counts = _counts(search, name)
        return _named(counts, dict(rows_in(connection, "SELECT id, name FROM names WHERE id IN", list(counts))))
    spec = BY_NAME[name]
    if spec.context:
        counts = _counts(search, "context")
        statement = f"SELECT id, {spec.context} FROM contexts WHERE {spec.context} IS NOT NULL AND id IN"
        return _named(counts, dict(rows_in(connection, statement, list(counts))))
    counts = _counts(search, "session")
    numbers = [number for number in counts if number]
    if name == "session":
        return _named(counts, telling.ids(connection, numbers))
    if name == "title":
        headings = telling.headings(connection, unpacker, numbers, telling.summaries_of(connection))
        return _named(counts, {number: heading.title or "" for number, heading in headings.items()})
    return _named(counts, telling.latest(connection, spec.fact), spec.absent)


def _counts(search: Search, field: str) -> dict[int, int]:
    """Let Tantivy count by one of its numbers."""
    ask = {"values": {"terms": {"field": field, "size": MOST_VALUES}}}
    buckets = search.searcher.aggregate(matched(search), ask)["values"]["buckets"]
    return {int(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}


def _named(counts: Mapping[int, int], names: Mapping[int, str], absent: str = "") -> dict[str, int]:
    total: Counter[str] = Counter()
    for number, count in counts.items():
        total[names.get(number, absent)] += count
    return {name: count for name, count in sorted(total.items(), key=lambda item: (-item[1], item[0])) if name}


def _dates(search: Search, form: str) -> dict[str, int]:
    ask = {"values": {"histogram": {"field": "time", "interval": _QUARTER_HOUR, "min_doc_count": 1}}}
    buckets = search.searcher.aggregate(matched(search), ask)["values"]["buckets"]
    total: Counter[str] = Counter()
    for bucket in buckets:
        total[datetime.fromtimestamp(float(bucket["key"]) / 1000).strftime(form)] += int(bucket["doc_count"])
    return dict(sorted(total.items()))


def similar(searcher: tantivy.Searcher, text: str) -> list[str]:
    """Return the words that differ from this one in as many letters as a fuzzy query allows, the nearest first.

    That is one letter, or two of eight and more: a word that differs in three is another word, and so is one that is
    spelt right and happens to be nowhere.
    """
    found = words(text)
    if len(found) != 1 or len(found[0]) < SHORTEST or not found[0].isascii():
        return []
    word = found[0]
    most, letters = fuzzy_distance(word), frozenset(word)
    alike = []
    for other, frequency in searcher.terms_with_prefix(TEXT, word[:_PREFIX], None, LOOKED_AT):
        if abs(len(other) - len(word)) > most or other == word or other.isdigit():
            continue
        # Each letter that the other lacks is one to put in or to replace.
        if len(letters.difference(other)) <= most and (distance := difference(other, word)) <= most:
            alike.append((distance, -frequency, other))
    return [other for _, _, other in sorted(alike)[:MOST]]
