"""One ranking out of what holds the words of a question and what is near to its meaning.

Both scales are absolute, so that they may be added: a poor best hit of one channel cannot outrank a
good one of the other. Every step was measured on labelled questions; ARCHITECTURE.md has the table.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from searchkit.backends.base import Hit
from searchkit.query.types import Match, Query
from searchkit.search.ranking import timeliness
from searchkit.search.support import supported
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, Recipe
from searchkit.text.language import is_in_english
from searchkit.types import Kind

_NAME = re.compile(r"[_/(){}]|::|\w\.\w|[a-z][A-Z]")
# Letters that are not Latin ones: from Greek on, but for those that Vietnamese is written with.
_FOREIGN = re.compile(r"[^\W\d_\u0000-\u036f\u1e00-\u1eff]")
_FOREIGN_SHARE = 0.2


class Meant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How near a part, or for a result its call, is to a question, and what kind of saying it is.

    What was said to a prompt also knows how near that is.
    """

    cosine: float
    feature: float = 1.0
    is_of_call: bool = False
    prompt: float = 0.0


def fuse(
    words: Sequence[Ranked], others: Iterable[Hit], meant: Mapping[int, Meant], query: Query, recipe: Recipe = RECIPE
) -> list[Ranked]:
    """Rank what either channel found, best first; of equals the newer comes first."""
    found = {one.hit.key: one for one in words}
    for hit in others:
        found.setdefault(hit.key, Ranked(hit=hit, weight=1.0, own=0.0, score=0.0))
    means = {
        key: meaning(one.hit, meant[key], recipe) * timeliness(one.hit, query, recipe)
        for key, one in found.items()
        if key in meant
    }
    if not recipe.is_absolute:
        best = max(means.values(), default=0.0) or 1.0
        means = {key: value / best for key, value in means.items()}
    weight = weight_of(query, recipe) if words else 1.0
    scored = [_scored(one, means.get(key, 0.0), weight) for key, one in found.items()]
    return sorted(supported(scored, recipe), key=lambda one: (-one.score, -(one.hit.time or 0), one.hit.position))


def weight_of(query: Query, recipe: Recipe = RECIPE) -> float:
    """Say how much meaning counts for a question."""
    wanted = query.wanted
    if len(_FOREIGN.findall(wanted)) > _FOREIGN_SHARE * len(wanted):
        return recipe.meaning_of_unknown_scripts
    is_quoted = any(term.match is Match.PHRASE for clause in query.clauses for term in clause.terms)
    if is_quoted or _NAME.search(wanted):
        return recipe.meaning_of_names
    return recipe.meaning if is_in_english(wanted) else recipe.meaning_of_other_languages


def meaning(hit: Hit, meant: Meant, recipe: Recipe = RECIPE) -> float:
    """Say how well the meaning of a part answers."""
    cosine = max(meant.cosine, 0.0)
    if meant.is_of_call:
        return recipe.of_call * recipe.meaning_kinds.get(Kind.TOOL_CALL, 1.0) * cosine
    weight = recipe.meaning_agent_prompt if hit.is_told else recipe.meaning_kinds.get(hit.kind, 1.0)
    feature = meant.feature if recipe.are_features_counted else 1.0
    return cosine * weight * feature + recipe.of_prompt * max(meant.prompt, 0.0)


def _scored(one: Ranked, means: float, weight: float) -> Ranked:
    own = (1 - weight) * one.own + weight * means
    return msgspec.structs.replace(one, own=own, words=one.own, meaning=means)
