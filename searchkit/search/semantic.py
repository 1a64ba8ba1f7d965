"""Asks the vectors: what is near to a question, how near what its words found is, and what answers a prompt."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.backends.base import Backend, Hit, Near, Stored, Vector
from searchkit.backends.duplicates import is_other
from searchkit.query.types import Condition, Filter, Match, Query
from searchkit.search.ranking import Meant, as_found, fuse
from searchkit.search.types import QuestionVectors, Ranked
from searchkit.search.weights import RECIPE, Recipe
from searchkit.sources import tools
from searchkit.text.language import is_in_english, language_of_question, word_count
from searchkit.types import Kind, Language

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


def concluding(backend: Backend, prompts: Sequence[Hit], known: Collection[int]) -> list[Hit]:
    """Return the last texts of the turns of prompts that meaning found; those that are known are left out.

    Where they stand is not told: nothing supports them but their sessions.
    """
    last = backend.catalog.conclusions([prompt.key for prompt in prompts])
    keys = sorted({one.key for one in last.values()}.difference(known))
    stored = dict(zip(keys, backend.catalog.stored(keys), strict=True))
    found: dict[int, Hit] = {}
    for prompt in prompts:
        said = stored.get(last[prompt.key].key) if prompt.key in last else None
        if said is not None and not said.repeats:
            key = last[prompt.key].key
            found[key] = msgspec.structs.replace(
                prompt, key=key, position=prompt.position + _FAR, kind=Kind.TEXT, time=said.link.time
            )
    return list(found.values())


# Further from any other part than parts support each other.
_FAR = 1_000


def _home(stored: Stored) -> tuple[str, str | None]:
    """Say where a part was said, by file and agent: the next position can be of another conversation."""
    place = stored.link.places[0]
    return place.file, place.agent


# Asks the channel of meaning: what is near to a question, and how near what its words found is.

_OTHERS = tuple(one for one in Language if is_other(one))
# What answers a prompt: the results of tools mean what their calls mean.
ANSWERING = frozenset({Kind.TEXT, Kind.THINKING})


def ranked(
    backend: Backend,
    query: Query,
    question: QuestionVectors,
    words: Sequence[Ranked],
    are_words_asked: bool = True,
    recipe: Recipe = RECIPE,
) -> list[Ranked]:
    """Rank what holds the words of a question together with what is near to its meaning.

    How many candidates are looked at never depends on how many results are wanted.
    """
    spaces = _Spaces(backend, query, question, recipe)
    least = recipe.least_meant
    if are_words_asked:
        least = _least_beside(query, recipe) if words else recipe.least_cosine
    near: list[Near] = []
    # What must hold certain words is only ranked by its meaning.
    if not (are_words_asked and means_words(query)):
        most = recipe.candidates if words else recipe.candidates_alone
        near = [one for one in spaces.nearest(most) if one.cosine >= least]
    if words and near and recipe.are_words_filled:
        words = [*words, *_filled(backend, query, words, near, recipe)]
    known = {one.key: spaces.meant(one) for one in near}
    said = replies(backend, words, recipe) if _can_be_replied_to(query, recipe) else []
    if question.multilingual is not None and tools.is_all_else(query.condition) and not means_words(query):
        asked = [_hit(one) for one in near if one.kind is Kind.PROMPT and spaces.meant(one).is_multilingual]
        said += concluding(
            backend,
            asked[: recipe.concluded_prompts],
            {one.hit.key for one in words} | known.keys() | {hit.key for hit in said},
        )
    candidates = [*(one.hit for one in words), *said]
    others = [*(_hit(one) for one in near), *said]
    unknown = [hit.key for hit in candidates if hit.key not in known] if recipe.are_cosines_filled else []
    results = [one.hit.key for one in words if one.hit.kind is Kind.TOOL_RESULT]
    calls = backend.catalog.calls(results) if recipe.of_call else {}
    answers = {hit.key for hit in (*candidates, *others) if hit.kind in ANSWERING}
    prompts = backend.catalog.prompts(sorted(answers)) if recipe.of_prompt else {}
    near_by = spaces.compared(sorted({*unknown, *calls.values(), *prompts.values()})) | known
    inherited = {
        result: Meant(cosine=near_by[call].cosine, is_of_call=True) for result, call in calls.items() if call in near_by
    }
    answering = {
        key: msgspec.structs.replace(near_by[key], prompt=near_by[prompt].cosine)
        for key, prompt in prompts.items()
        if key in near_by and prompt in near_by
    }
    return fuse(words, others, inherited | near_by | answering, query, recipe)


class _Spaces:
    """The vectors of both models, as far as they can be compared with a question, on one scale.

    A question in English is compared by the default model with what is in English, as if there were no other, and by
    the multilingual one with what is in other languages. Any other question is compared by the multilingual model
    with whatever that knows.
    """

    def __init__(self, backend: Backend, query: Query, question: QuestionVectors, recipe: Recipe) -> None:
        self._backend = backend
        self._condition = query.condition
        self._question = question
        self._recipe = recipe
        self._language = language_of_question(query.wanted)
        self._is_english = not is_other(self._language)

    def nearest(self, most: int) -> list[Near]:
        """Return the parts that are nearest by either model, the best first."""
        values, condition = self._question.multilingual, self._condition
        if values is None:
            return self._backend.vectors.nearest(self._question.chosen, condition, most)
        found: dict[int, Near] = {}
        if self._is_english:
            found = {one.key: one for one in self._backend.vectors.nearest(self._question.chosen, condition, most)}
            asked = [_narrowed(condition, *_OTHERS)]
        else:
            # What is in the language of the question is wanted most, but there may be more in others.
            asked = [condition] if self._language is None else [condition, _narrowed(condition, self._language)]
        for one in (one for each in asked for one in self._backend.multilingual.nearest(values, each, most)):
            found[one.key] = msgspec.structs.replace(one, cosine=self._scaled(one.cosine))
        return sorted(found.values(), key=lambda one: -one.cosine)

    def compared(self, keys: Sequence[int]) -> dict[int, Meant]:
        """Compare parts with the question; one without any vector is left out."""
        times = self._recipe.of_default if self._question.multilingual is not None and not self._is_english else 1.0
        found = {
            key: self._nearest_piece(pieces, self._question.chosen, lambda cosine: times * cosine)
            for key, pieces in self._backend.vectors.of(keys).items()
        }
        if self._question.multilingual is not None:
            for key, pieces in self._backend.multilingual.of(keys).items():
                if self._is_multilingual(pieces[0].language):
                    found[key] = msgspec.structs.replace(
                        self._nearest_piece(pieces, self._question.multilingual, self._scaled), is_multilingual=True
                    )
        return found

    def meant(self, near: Near) -> Meant:
        """Return how near a part is, and whether it is in another language than the question."""
        return Meant(
            cosine=near.cosine,
            feature=near.feature,
            is_across=self._is_across(near.language),
            is_in_others=is_other(near.language),
            is_multilingual=self._is_multilingual(near.language),
        )

    def _nearest_piece(self, pieces: Sequence[Vector], values: "Values", scale: Callable[[float], float]) -> Meant:
        cosines = [(scale(float(piece.values @ values)), piece) for piece in pieces]
        cosine, piece = max(cosines, key=lambda one: one[0])
        return Meant(
            cosine=cosine,
            feature=piece.feature,
            is_across=self._is_across(piece.language),
            is_in_others=is_other(piece.language),
        )

    def _is_multilingual(self, language: Language | None) -> bool:
        """Say whether the multilingual model compares a part of which it has a vector."""
        return self._question.multilingual is not None and (not self._is_english or is_other(language))

    def _is_across(self, language: Language | None) -> bool:
        if self._question.multilingual is None or language is None:
            return False
        return not self._is_english and language is not self._language

    def _scaled(self, cosine: float) -> float:
        """Return a cosine of the multilingual model as one of the default model would be."""
        return self._recipe.multilingual_scale * cosine + self._recipe.multilingual_shift


def _narrowed(condition: Condition, *languages: Language) -> Condition:
    wanted = Filter(name="language", values=tuple(one.value for one in languages))
    return msgspec.structs.replace(condition, filters=(*condition.filters, wanted))


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
