"""Asks the channels, ranks what they find, and gathers what is shown of it."""

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from searchkit.backends.base import Backend, Found, Hit, Order, Step, Stored
from searchkit.conversation import turns as window
from searchkit.query.types import Condition, Group, Query
from searchkit.search import ranking, rerank, semantic, snippets
from searchkit.search.types import Answer, Ranked, Result, SearchOptions, Shown
from searchkit.search.weights import RECIPE, Recipe
from searchkit.sources import own_output
from searchkit.types import Kind

if TYPE_CHECKING:
    from searchkit.backends.base import Values
    from searchkit.embed.base import Judge

# Where the candidates lie in fewer sessions than are wanted, so many times as many are looked at, and again.
MORE_CANDIDATES = (5, 25)
# Of a session that is shown once.
PASSAGES = 3
# Passages of a session that are shown beside its best one say at least this share of what that one says.
LEAST_SHARE = 0.5


def retrieve(
    backend: Backend,
    options: SearchOptions,
    question: "Values | None" = None,
    are_words_asked: bool = True,
    recipe: Recipe = RECIPE,
    judge: "Judge | None" = None,
) -> Answer:
    """Answer a query, by meaning too where the vector of the question is given, or by meaning alone."""
    started = time.perf_counter()
    query, limit, order, is_grouped = options.query, options.limit, options.sort, options.group is Group.SESSION
    if not (query.clauses or query.condition.filters or query.condition.periods):
        reach = backend.words.reach()
        return Answer(query=query, results=(), total=0, parts=reach.searchable, pending=reach.pending)
    asked, query = query, own_output.without(query)
    query = replace(query, sessions=ranking.sessions_of_project(backend, query))
    pool = _Pool(backend, query, order, question, are_words_asked, recipe, judge)
    found, ranked = pool.first()
    groups = _grouped(ranked, limit, is_grouped)
    if len(groups) < limit:
        groups += _further(pool, found, ranked, limit - len(groups), is_grouped)
    groups = [_worth_showing(group) for group in groups]
    results = _results(backend, query, groups, options.thread)
    reach = backend.words.reach()
    return Answer(
        query=asked,
        results=results,
        total=(found.total if found.matches is None else found.matches) or len(ranked),
        embedded=0 if question is None else backend.vectors.reach().searchable,
        parts=reach.searchable,
        pending=reach.pending,
        hidden=found.hidden if asked.condition != Condition() else 0,
        unseen=found.unseen,
        missing=found.missing,
        suggestions={word: alike for word in found.missing if (alike := backend.words.spelling(word))},
        facets={name: backend.words.facets(query, name) for name in options.facets},
        seconds=time.perf_counter() - started,
        weights=recipe,
    )


class _Pool:
    """The candidates of a question: a fixed number of them is ranked, and then cut.

    So what comes first never depends on how many results are wanted. Where these are too few, what follows is ranked
    apart and comes behind.
    """

    def __init__(
        self,
        backend: Backend,
        query: Query,
        order: Order,
        question: "Values | None",
        are_words_asked: bool,
        recipe: Recipe,
        judge: "Judge | None",
    ) -> None:
        """Take a question and how it is to be answered."""
        self._backend = backend
        self._query = query
        self._order = order
        self._question = question if order is Order.RELEVANCE else None
        self._are_words_asked = are_words_asked
        self._recipe = recipe
        self._judge = judge if order is Order.RELEVANCE and query.wanted else None

    def first(self) -> tuple[Found, list[Ranked]]:
        """Return what the words found, and the ranking of what either channel found."""
        found = self._words(self._recipe.candidates) if self._are_words_asked else Found(hits=(), total=0)
        ranked = self._ranked(found.hits)
        if self._question is not None:
            ranked = semantic.ranked(
                self._backend, self._query, self._question, ranked, self._are_words_asked, self._recipe
            )
        ranked = self._arranged(ranked)
        return found, ranked if self._judge is None else _reranked(self._backend, self._query, ranked, self._judge)

    def further(self, times: int, known: Collection[int]) -> list[Ranked]:
        """Rank by words what is not known among so many times as many candidates."""
        hits = self._words(times * self._recipe.candidates).hits
        return self._arranged(self._ranked([hit for hit in hits if hit.key not in known]))

    def _words(self, most: int) -> Found:
        return self._backend.words.search(self._query, most, self._order)

    def _ranked(self, hits: Sequence[Hit]) -> list[Ranked]:
        rank = ranking.rank if self._order is Order.RELEVANCE else ranking.as_found
        return rank(hits, self._query, self._recipe, self._question is None)

    def _arranged(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        if not self._query.wanted:
            # What filters alone choose is a list of everything, not an answer.
            return list(ranked)
        if self._order is not Order.RELEVANCE:
            return ranking.without_side_records(ranked)
        return ranking.arranged(self._backend, ranked, self._recipe)


def _further(pool: _Pool, found: Found, ranked: Sequence[Ranked], wanted: int, is_grouped: bool) -> list[list[Ranked]]:
    """Return what comes behind the pool; a session that is in it has all its passages from there."""
    known = {one.hit.key for one in ranked} | {hit.key for hit in found.hits}
    sessions = {one.hit.session for one in ranked if one.hit.session} if is_grouped else set()
    groups: list[list[Ranked]] = []
    for times in MORE_CANDIDATES:
        if len(groups) >= wanted or len(found.hits) >= found.total or found.unseen:
            break
        more = pool.further(times, known)
        groups += _grouped([one for one in more if one.hit.session not in sessions], wanted - len(groups), is_grouped)
        known |= {one.hit.key for one in more}
        sessions |= {one.hit.session for one in more if one.hit.session} if is_grouped else set()
    return groups


def _grouped(ranked: Sequence[Ranked], limit: int, is_grouped: bool) -> list[list[Ranked]]:
    return ranking.by_session(ranked, limit, PASSAGES) if is_grouped else ranking.one_by_one(ranked, limit)


def _reranked(backend: Backend, query: Query, ranked: Sequence[Ranked], judge: "Judge") -> list[Ranked]:
    first = [one.hit.key for one in ranked[: rerank.FIRST]]
    stored = zip(first, backend.catalog.stored(first), strict=True)
    return rerank.rerank(ranked, query.wanted, {key: one.part.text for key, one in stored if one}, judge)


def _worth_showing(group: list[Ranked]) -> list[Ranked]:
    """Keep the best passage, and others that say nearly as much; a title is shown anyway."""
    best, *others = group
    return [best, *(one for one in others if one.own >= LEAST_SHARE * best.own and one.hit.kind is not Kind.TITLE)]


def _results(backend: Backend, query: Query, groups: Sequence[Sequence[Ranked]], turns: int) -> list[Result]:
    """Fetch what is shown, all of it at once."""
    near = window.nearby(backend.catalog, [group[0].hit.key for group in groups], turns)
    around = {step.key for entries in near.values() for step in entries if isinstance(step, Step)}
    keys = sorted({one.hit.key for group in groups for one in group} | around)
    parts = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    # What was found may be gone meanwhile, or repeat what was read since.
    shown = [
        [_shown(backend, query, one, stored) for one in group if (stored := parts[one.hit.key]) and not stored.repeats]
        for group in groups
    ]
    shown = [group for group in shown if group]
    homes = [group[0].stored.link.places[0].session for group in shown]
    sessions = backend.catalog.headings(sorted({home for home in homes if home}))
    hits = [group[0].ranked.hit.key for group in shown]
    return [
        Result(
            best=group[0],
            session=sessions.get(home or ""),
            thread=window.entries(near.get(hit, ()), {hit}, parts),
            others=group[1:],
        )
        for group, home, hit in zip(shown, homes, hits, strict=True)
    ]


def _shown(backend: Backend, query: Query, ranked: Ranked, stored: Stored) -> Shown:
    text = stored.part.text
    return Shown(ranked=ranked, stored=stored, passage=snippets.cut(text, backend.words.highlight(query, text)))
