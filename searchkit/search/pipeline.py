"""Asks the channels, ranks what they find, and gathers what is shown of it."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from searchkit.backends.base import Backend, Found, Order, Step, Stored
from searchkit.conversation import turns as window
from searchkit.query import own_output
from searchkit.query.types import Condition, Group, Query
from searchkit.search import ranking, rerank, semantic, snippets
from searchkit.search.types import Answer, Ranked, Result, SearchOptions, Shown
from searchkit.search.weights import RECIPE, Recipe
from searchkit.types import Kind

if TYPE_CHECKING:
    from searchkit.backends.base import Values
    from searchkit.embed.base import Judge

# Where the candidates lie in fewer sessions than are wanted, so many times more are looked at, twice at most.
MORE_CANDIDATES = 5
MOST_TRIES = 3
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
    candidates = max(recipe.candidates, limit)
    for _ in range(MOST_TRIES):
        found = backend.words.search(query, candidates, order) if are_words_asked else Found(hits=(), total=0)
        ranked = (ranking.rank if order is Order.RELEVANCE else ranking.as_found)(found.hits, query, recipe)
        if question is not None and order is Order.RELEVANCE:
            ranked = semantic.ranked(backend, query, question, ranked, limit, are_words_asked, recipe)
        groups = _grouped(ranked, limit, is_grouped)
        if len(groups) >= limit or len(found.hits) >= found.total or found.unseen:
            break
        candidates *= MORE_CANDIDATES
    if judge is not None and order is Order.RELEVANCE and query.wanted:
        groups = _grouped(_reranked(backend, query, ranked, judge), limit, is_grouped)
    groups = [_worth_showing(group) for group in groups]
    results = _results(backend, query, groups, options.thread)
    reach = backend.words.reach()
    return Answer(
        query=asked,
        results=results,
        total=found.total or len(ranked),
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
