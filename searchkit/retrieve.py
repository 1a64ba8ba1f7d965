"""Asks the channels, ranks what they find, and gathers what is shown of it."""

import time
from collections.abc import Sequence

from searchkit import passage, rank, thread
from searchkit.backends.base import Backend, Hit, Order, Stored
from searchkit.questions import Query
from searchkit.results import Answer, Result, Shown

# So many per channel and more found nothing better in the first ten, over 398 MB of transcripts.
CANDIDATES = 200
# Of a session that is shown once.
PASSAGES = 3
# Passages of a session that are shown beside its best one say at least this share of what that one says.
LEAST_SHARE = 0.5


def retrieve(
    backend: Backend,
    query: Query,
    limit: int,
    order: Order = Order.RELEVANCE,
    is_grouped: bool = True,
    turns: int = 2,
    facets: Sequence[str] = (),
) -> Answer:
    """Answer a query."""
    started = time.perf_counter()
    found = backend.keyword(query, max(CANDIDATES, limit), order)
    hits = rank.rank(found.hits, query) if order is Order.RELEVANCE else list(found.hits)
    groups = rank.by_session(hits, limit, PASSAGES) if is_grouped else rank.one_by_one(hits, limit)
    groups = [_worth_showing(group) for group in groups]
    results = _results(backend, query, groups, turns)
    pending = backend.pending()
    return Answer(
        query=query,
        results=results,
        total=found.total,
        parts=backend.searchable(),
        pending=pending,
        hidden=found.hidden,
        suggestions={word: alike for word in found.missing if (alike := backend.similar_words(word))},
        facets={name: backend.facets(query, name) for name in facets},
        seconds=time.perf_counter() - started,
    )


def _worth_showing(group: list[Hit]) -> list[Hit]:
    return [hit for hit in group if hit.score >= LEAST_SHARE * group[0].score]


def _results(backend: Backend, query: Query, groups: Sequence[Sequence[Hit]], turns: int) -> list[Result]:
    keys = [hit.key for group in groups for hit in group]
    parts = dict(zip(keys, backend.stored(keys), strict=True))
    shown = [[_shown(backend, query, hit, stored) for hit in group if (stored := parts[hit.key])] for group in groups]
    shown = [group for group in shown if group]
    best = [group[0].stored for group in shown]
    threads = thread.around(backend, best, turns)
    sessions = backend.headings(sorted({session for stored in best if (session := stored.link.places[0].session)}))
    return [
        Result(
            best=group[0],
            session=sessions.get(group[0].stored.link.places[0].session or ""),
            thread=around,
            others=group[1:],
        )
        for group, around in zip(shown, threads, strict=True)
    ]


def _shown(backend: Backend, query: Query, hit: Hit, stored: Stored) -> Shown:
    text = stored.part.text
    return Shown(hit=hit, stored=stored, passage=passage.cut(text, backend.marks(query, text)))
