"""One ranking from what the channels found: absolute scores, weighted by what a part is."""

from collections.abc import Iterable, Sequence

import msgspec

from searchkit.backends.base import Hit
from searchkit.query.filter_matching import within
from searchkit.query.types import Query
from searchkit.search.support import supported
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, Recipe
from searchkit.text.language import is_in_english
from searchkit.types import Kind


def rank(hits: Iterable[Hit], query: Query, recipe: Recipe = RECIPE) -> list[Ranked]:
    """Return the hits with their final scores, best first; of equals the newer comes first."""
    scored = as_found(hits, query, recipe)
    ranked = supported(scored if recipe.is_absolute else _by_best(scored), recipe)
    return sorted(ranked, key=lambda one: (-one.score, -(one.hit.time or 0), one.hit.position))


def as_found(hits: Iterable[Hit], query: Query, recipe: Recipe = RECIPE) -> list[Ranked]:
    """Return the hits with their final scores, in the order in which they came."""
    prompt = 1.0 if is_in_english(query.wanted) else recipe.word_prompt_of_other_languages
    return [_ranked(hit, query, recipe, prompt) for hit in hits]


def by_session(ranked: Iterable[Ranked], limit: int, passages: int) -> list[list[Ranked]]:
    """Gather the hits of each session, as many sessions as wanted, the one with the best hit first."""
    groups: dict[tuple[int, int | None], list[Ranked]] = {}
    for one in ranked:
        # What belongs to no session stands alone.
        groups.setdefault((one.hit.session, None if one.hit.session else one.hit.key), []).append(one)
    return [_titles_last(group)[:passages] for group in list(groups.values())[:limit]]


def _titles_last(group: list[Ranked]) -> list[Ranked]:
    """Let a title lift its session but not stand for it: it is shown anyway, and leads nowhere."""
    return sorted(group, key=lambda one: one.hit.kind is Kind.TITLE)


def one_by_one(ranked: Sequence[Ranked], limit: int) -> list[list[Ranked]]:
    """Let every hit stand alone."""
    return [[one] for one in ranked[:limit]]


def timeliness(hit: Hit, query: Query, recipe: Recipe) -> float:
    """Return what a hit counts times for the time that a question names in passing."""
    if query.period is None or not any(within(span, hit.time) for span in query.period.spans):
        return 1.0
    return recipe.period_boost


def _ranked(hit: Hit, query: Query, recipe: Recipe, prompt: float) -> Ranked:
    weight = recipe.word_agent_prompt if hit.is_told else recipe.word_kinds.get(hit.kind, 1.0)
    weight *= prompt if hit.kind is Kind.PROMPT else 1.0
    weight *= timeliness(hit, query, recipe)
    own = hit.score * weight * hit.coverage**recipe.coverage_power
    return Ranked(hit=hit, weight=weight, own=own, score=own)


def _by_best(scored: Sequence[Ranked]) -> list[Ranked]:
    best = max((one.own for one in scored), default=0.0) or 1.0
    return [msgspec.structs.replace(one, own=one.own / best) for one in scored]
