"""Asks the vectors: what is near to a question, how near what its words found is, and what answers a prompt."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.backends.base import Backend, Hit, Near, Stored, Vector
from searchkit.query.types import Match, Query
from searchkit.search.ranking import Meant, as_found, fuse
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, Recipe
from searchkit.sources import tools
from searchkit.text.language import is_in_english, word_count
from searchkit.types import Kind

if TYPE_CHECKING:
    from searchkit.backends.base import Values


# What was said to a prompt that was found answers the question, too, though it may hold none of its words.
#
# In English meaning finds it. In another language the default model knows too little of it.


def replies(backend: Backend, words: Sequence[Ranked], recipe: Recipe) -> list[Hit]:
    """Return the texts shortly behind the best prompts; the prompts' support is all that ranks them."""
    prompts = [one.hit for one in words if one.hit.kind is Kind.PROMPT and one.hit.session][: recipe.replied_prompts]
    known = {one.hit.key for one in words}
    behind = backend.catalog.following([prompt.key for prompt in prompts], recipe.reply_steps)
    keys = sorted({key for several in behind.values() for key in several if key is not None} | set(behind))
    stored = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    found: dict[int, Hit] = {}
    for prompt in prompts:
        asked = stored[prompt.key]
        for position, key in enumerate(behind[prompt.key], prompt.position + 1):
            said = None if key is None else stored[key]
            if key is None or asked is None or said is None or _home(said) != _home(asked):
                continue
            if said.part.kind is Kind.PROMPT:
                break
            if said.part.kind is Kind.TEXT and key not in known and not said.repeats:
                found[key] = Hit(
                    key=key,
                    position=position,
                    kind=Kind.TEXT,
                    session=prompt.session,
                    time=said.link.time,
                    is_agents=prompt.is_agents,
                    score=0.0,
                    coverage=0.0,
                )
    return list(found.values())


def _home(stored: Stored) -> tuple[str, str | None]:
    """Say where a part was said, by file and agent: the next position can be of another conversation."""
    place = stored.link.places[0]
    return place.file, place.agent


# Asks the channel of meaning: what is near to a question, and how near what its words found is.

# What answers a prompt: the results of tools mean what their calls mean.
ANSWERING = frozenset({Kind.TEXT, Kind.THINKING})


def ranked(
    backend: Backend,
    query: Query,
    question: "Values",
    words: Sequence[Ranked],
    are_words_asked: bool = True,
    recipe: Recipe = RECIPE,
) -> list[Ranked]:
    """Rank what holds the words of a question together with what is near to its meaning.

    How many candidates are looked at never depends on how many results are wanted.
    """
    least = recipe.least_meant
    if are_words_asked:
        least = _least_beside(query, recipe) if words else recipe.least_cosine
    near = []
    # What must hold certain words is only ranked by its meaning.
    if not (are_words_asked and means_words(query)):
        most = recipe.candidates if words else recipe.candidates_alone
        near = [one for one in backend.vectors.nearest(question, query.condition, most) if one.cosine >= least]
    if words and near and recipe.are_words_filled:
        words = [*words, *_filled(backend, query, words, near, recipe)]
    known = {one.key: Meant(cosine=one.cosine, feature=one.feature) for one in near}
    said = replies(backend, words, recipe) if _can_be_replied_to(query, recipe) else []
    candidates = [*(one.hit for one in words), *said]
    others = [*(_hit(one) for one in near), *said]
    unknown = [hit.key for hit in candidates if hit.key not in known] if recipe.are_cosines_filled else []
    results = [one.hit.key for one in words if one.hit.kind is Kind.TOOL_RESULT]
    calls = backend.catalog.calls(results) if recipe.of_call else {}
    answers = {hit.key for hit in (*candidates, *others) if hit.kind in ANSWERING}
    prompts = backend.catalog.prompts(sorted(answers)) if recipe.of_prompt else {}
    vectors = backend.vectors.of(sorted({*unknown, *calls.values(), *prompts.values()}))
    cosines = {
        key: max((_compared(piece, question) for piece in pieces), key=lambda one: one.cosine)
        for key, pieces in vectors.items()
    }
    near_by = cosines | known
    inherited = {
        result: Meant(cosine=near_by[call].cosine, is_of_call=True) for result, call in calls.items() if call in near_by
    }
    answering = {
        key: msgspec.structs.replace(near_by[key], prompt=near_by[prompt].cosine)
        for key, prompt in prompts.items()
        if key in near_by and prompt in near_by
    }
    return fuse(words, others, inherited | near_by | answering, query, recipe)


def _filled(
    backend: Backend, query: Query, words: Sequence[Ranked], near: Sequence[Near], recipe: Recipe
) -> list[Ranked]:
    """Score the words of what only meaning found; it is among the candidates whatever they are worth."""
    known = {one.hit.key for one in words}
    return as_found(
        backend.words.scored(query, [one.key for one in near if one.key not in known]), query, recipe, False
    )


def means_words(query: Query) -> bool:
    """Say whether nothing but words will do: a quotation, a pattern, or a word that must or must not be there."""
    return any(
        clause.is_required or clause.is_excluded or any(term.match is not Match.WORD for term in clause.terms)
        for clause in query.clauses
    )


def _least_beside(query: Query, recipe: Recipe) -> float:
    """Say how near something must be that is shown beside what holds the words: a few words are meant as such."""
    return recipe.least_beside if _is_short(query, recipe) else -1.0


def _can_be_replied_to(query: Query, recipe: Recipe) -> bool:
    """Say whether what was said to a prompt may be found: only where nothing that was asked could keep it away."""
    is_of_words = means_words(query) or _is_short(query, recipe)
    return tools.is_all_else(query.condition) and not (is_of_words or is_in_english(query.wanted))


def _is_short(query: Query, recipe: Recipe) -> bool:
    return word_count(query.wanted) <= recipe.few_words


def _compared(piece: Vector, question: "Values") -> Meant:
    return Meant(cosine=float(piece.values @ question), feature=piece.feature)


def _hit(near: Near) -> Hit:
    return Hit(
        key=near.key,
        position=near.position,
        kind=near.kind,
        session=near.session,
        time=near.time,
        is_agents=near.is_agents,
        score=0.0,
        coverage=0.0,
    )
