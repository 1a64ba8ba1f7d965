"""Rank what the channels found: absolute scores of words and of meaning, added up, then the rules for their order.

Both scales are absolute, so that they may be added: a poor best hit of one channel cannot outrank a good one of the
other. `weights.py` holds every number with its evidence, and docs/ranking.md what each step is worth.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath

import msgspec

from searchkit.backends.base import Backend, Conclusion, Hit
from searchkit.query.filters import within
from searchkit.query.types import Match, Query
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, Recipe
from searchkit.text.language import is_in_english
from searchkit.types import Kind

_NAME = re.compile(r"[_/(){}]|::|\w\.\w|[a-z][A-Z]")
# Letters that are not Latin ones: from Greek on, but for those that Vietnamese is written with.
_FOREIGN = re.compile(r"[^\W\d_\u0000-\u036f\u1e00-\u1eff]")
_FOREIGN_SHARE = 0.2
# Names of directories that are shorter say nothing: `src`, `app`.
SHORTEST_PROJECT = 4
# Records beside the conversation: a title, and copies of prompts. They lift their session and do not stand for it.
SIDE = frozenset({Kind.TITLE, Kind.HISTORY})
# What a conclusion may come before: what was asked, what was called, and texts that only narrate.
ASKING = frozenset({Kind.PROMPT, Kind.COMMAND, Kind.TOOL_CALL})


class Meant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How near a part, or for a result its call, is to a question, and what kind of text it is.

    A text that answers a prompt also knows how near that prompt is. Across means that it is in another language than
    the question, and multilingual that the multilingual model says so.
    """

    cosine: float
    feature: float = 1.0
    is_of_call: bool = False
    prompt: float = 0.0
    is_across: bool = False
    is_in_others: bool = False
    is_multilingual: bool = False


def rank(hits: Iterable[Hit], query: Query, recipe: Recipe = RECIPE, is_alone: bool = True) -> list[Ranked]:
    """Rank by words, best first; of equals the newer comes first. Meaning may follow where they are not alone."""
    scored = as_found(hits, query, recipe, is_alone)
    return _in_order(supported(scored if recipe.is_absolute else _by_best(scored), recipe))


def as_found(hits: Iterable[Hit], query: Query, recipe: Recipe = RECIPE, is_alone: bool = True) -> list[Ranked]:
    """Return the hits with their scores by words, in the order in which they came."""
    prompt = 1.0 if is_in_english(query.wanted) else recipe.word_prompt_of_other_languages
    is_alone = is_alone or weight_of(query, recipe) <= recipe.least_meaning
    if is_alone:
        powers = recipe.word_power_alone, recipe.coverage_power_alone
    else:
        powers = recipe.word_power, recipe.coverage_power
    return [_by_words(hit, query, recipe, prompt, *powers) for hit in hits]


def fuse(
    words: Sequence[Ranked], others: Iterable[Hit], meant: Mapping[int, Meant], query: Query, recipe: Recipe = RECIPE
) -> list[Ranked]:
    """Rank what either channel found, best first; of equals the newer comes first."""
    found = {one.hit.key: one for one in words}
    for hit in others:
        found.setdefault(hit.key, Ranked(hit=hit, weight=1.0, own=0.0, score=0.0))
    means = {
        key: meaning(one.hit, meant[key], recipe) * boost(one.hit, query, recipe)
        for key, one in found.items()
        if key in meant
    }
    if not recipe.is_absolute:
        best = max(means.values(), default=0.0) or 1.0
        means = {key: value / best for key, value in means.items()}
    weight = weight_of(query, recipe) if words else 1.0
    scored = []
    for key, one in found.items():
        of_words, of_meaning = one.own, means.get(key, 0.0)
        own = (1 - weight) * of_words + weight * of_meaning
        is_weak = key in meant and meant[key].feature < 1.0
        scored.append(msgspec.structs.replace(one, own=own, words=of_words, meaning=of_meaning, is_narration=is_weak))
    return _in_order(supported(scored, recipe))


def arranged(backend: Backend, ranked: Sequence[Ranked], recipe: Recipe = RECIPE) -> list[Ranked]:
    """Apply the rules for the order of a ranking, whatever the scores say."""
    found = _unique_first(ranked)
    found = _conclusions_first(backend, found, recipe)
    return without_side_records(found)


def without_side_records(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Leave titles and copies of prompts out where their session has another hit, which they have supported."""
    answered = {one.hit.session for one in ranked if one.hit.kind not in SIDE}
    return [one for one in ranked if one.hit.kind not in SIDE or one.hit.session not in answered or not one.hit.session]


def supported(ranked: Sequence[Ranked], recipe: Recipe = RECIPE) -> list[Ranked]:
    """Add to each score what the hit gains from better neighbours and from the best hit of its session.

    On 60 questions over transcripts MRR rose from 57.1 to 58.4 with this, and nDCG@10 on 1,982 questions over long
    chats from 46.7 to 50.7; half or twice the shares do nearly as well.
    """
    owns: dict[int, dict[int, float]] = {0: {}}
    # What belongs to no session has nothing in common with what else belongs to none.
    best: dict[int, float] = {0: 0.0}
    for one in ranked:
        if one.hit.session:
            best[one.hit.session] = max(best.get(one.hit.session, 0.0), one.own)
            owns.setdefault(one.hit.session, {})[one.hit.position] = one.own
    # So that the scale stays absolute: 1 is the most there can be.
    most = 1 + recipe.of_before + recipe.of_after + recipe.of_session
    return [msgspec.structs.replace(one, score=(one.own + _gained(one, owns, best, recipe)) / most) for one in ranked]


def by_session(ranked: Iterable[Ranked], limit: int, passages: int) -> list[list[Ranked]]:
    """Gather the hits of each session, as many sessions as wanted, the one with the best hit first."""
    groups: dict[tuple[int, int | None], list[Ranked]] = {}
    for one in ranked:
        # What belongs to no session stands alone.
        groups.setdefault((one.hit.session, None if one.hit.session else one.hit.key), []).append(one)
    return [group[:passages] for group in list(groups.values())[:limit]]


def one_by_one(ranked: Sequence[Ranked], limit: int) -> list[list[Ranked]]:
    """Let every hit stand alone."""
    return [[one] for one in ranked[:limit]]


def weight_of(query: Query, recipe: Recipe = RECIPE) -> float:
    """Say how much meaning counts for a question."""
    wanted = query.wanted
    if len(_FOREIGN.findall(wanted)) > _FOREIGN_SHARE * len(wanted):
        return recipe.meaning_of_unknown_scripts
    is_quoted = any(term.match is Match.PHRASE for clause in query.clauses for term in clause.terms)
    if not is_in_english(wanted):
        return recipe.meaning_of_other_languages
    return recipe.meaning_of_names if is_quoted or _NAME.search(wanted) else recipe.meaning


def meaning(hit: Hit, meant: Meant, recipe: Recipe = RECIPE) -> float:
    """Say how well the meaning of a part answers."""
    cosine = max(meant.cosine, 0.0)
    if meant.is_of_call:
        return recipe.of_call * recipe.meaning_kinds.get(Kind.TOOL_CALL, 1.0) * cosine
    kinds = recipe.multilingual_kinds if meant.is_multilingual else recipe.meaning_kinds
    weight = recipe.meaning_agent_prompt if hit.is_told else kinds.get(hit.kind, 1.0)
    feature = meant.feature if recipe.are_features_counted else 1.0
    of_prompt = recipe.multilingual_of_prompt if meant.is_multilingual else recipe.of_prompt
    if meant.is_across:
        times = recipe.across if meant.is_in_others else recipe.across_to_english
        weight, of_prompt = weight * times, of_prompt * times
    return cosine * weight * feature + of_prompt * max(meant.prompt, 0.0)


def boost(hit: Hit, query: Query, recipe: Recipe) -> float:
    """Return what a hit counts times for the time and for the project that a question names in passing."""
    is_timely = query.period is not None and any(within(span, hit.time) for span in query.period.spans)
    times = recipe.period_boost if is_timely else 1.0
    return times * recipe.project_boost if hit.session in query.sessions else times


def sessions_of_project(backend: Backend, query: Query) -> frozenset[int]:
    """Return the sessions of the projects whose directories a question names in its words."""
    wanted = f" {_plain(query.wanted)} "
    named = [
        sessions
        for project, sessions in backend.catalog.projects().items()
        if len(name := _project_name(project)) >= SHORTEST_PROJECT and f" {name} " in wanted
    ]
    return frozenset().union(*named)


@lru_cache(4096)
def _project_name(project: str) -> str:
    return _plain(PurePath(project).name)


def _plain(text: str) -> str:
    """Write a name or a question as words: `pay-api` and `pay_api` are named by "pay api", too."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _by_words(
    hit: Hit, query: Query, recipe: Recipe, prompt: float, word_power: float, coverage_power: float
) -> Ranked:
    weight = recipe.word_agent_prompt if hit.is_told else recipe.word_kinds.get(hit.kind, 1.0)
    weight *= prompt if hit.kind is Kind.PROMPT else 1.0
    weight *= boost(hit, query, recipe)
    own = hit.score**word_power * weight * hit.coverage**coverage_power
    return Ranked(hit=hit, weight=weight, own=own, score=own, powers=(word_power, coverage_power))


def _by_best(scored: Sequence[Ranked]) -> list[Ranked]:
    best = max((one.own for one in scored), default=0.0) or 1.0
    return [msgspec.structs.replace(one, own=one.own / best) for one in scored]


def _in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda one: (-one.score, -(one.hit.time or 0), one.hit.position))


def _gained(one: Ranked, owns: Mapping[int, Mapping[int, float]], best: Mapping[int, float], recipe: Recipe) -> float:
    session, position = one.hit.session, one.hit.position
    before = _better(one.own, owns[session], range(position - recipe.neighbours, position))
    after = _better(one.own, owns[session], range(position + 1, position + recipe.neighbours + 1))
    return recipe.of_before * before + recipe.of_after * after + recipe.of_session * best[session]


def _better(own: float, owns: Mapping[int, float], positions: Iterable[int]) -> float:
    """Return by how much the best of the hits at some positions of the same session is better than this one."""
    most = 0.0
    # Every candidate of every search comes here, and few have such a hit.
    for position in positions:
        other = owns.get(position)
        if other is not None and other - own > most:
            most = other - own
    return most


def _unique_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Put what holds all unique words of a question before whatever holds none of them.

    What holds some of them stays where its score puts it.
    """
    first = next((place for place, one in enumerate(ranked) if not one.hit.unique), len(ranked))
    before, after = ranked[:first], ranked[first:]
    lifted = [msgspec.structs.replace(one, score=after[0].score) for one in after if one.hit.unique >= 1.0]
    return [*before, *lifted, *(one for one in after if one.hit.unique < 1.0)]


def _conclusions_first(backend: Backend, ranked: Sequence[Ranked], recipe: Recipe) -> list[Ranked]:
    """Put the last text of a turn before what was asked, called or announced in it, where it answers nearly as well.

    It must be much longer than that: where two people chat, the reply concludes nothing.
    """
    weak = [one.hit.key for one in ranked[: recipe.concluded] if one.hit.kind in ASKING or one.is_narration]
    conclusions = backend.catalog.conclusions(weak) if weak and recipe.of_conclusion < 1 else {}
    places = {one.hit.key: place for place, one in enumerate(ranked)}
    found, moved = [], set[int]()
    for place, one in enumerate(ranked):
        last = conclusions.get(one.hit.key)
        behind = places.get(last.key, -1) if last and _is_longer(last, recipe) else -1
        if behind > place and ranked[behind].hit.key not in moved and _answers(ranked[behind], one, recipe):
            moved.add(ranked[behind].hit.key)
            found.append(msgspec.structs.replace(ranked[behind], score=one.score))
        if one.hit.key not in moved:
            found.append(one)
    return found


def _is_longer(last: Conclusion, recipe: Recipe) -> bool:
    return last.length >= recipe.conclusion_ratio * min(last.other_length, recipe.conclusion_bytes)


def _answers(conclusion: Ranked, one: Ranked, recipe: Recipe) -> bool:
    """Say whether a conclusion answers nearly as well, and holds as many of the unique words."""
    return conclusion.score >= recipe.of_conclusion * one.score and conclusion.hit.unique >= one.hit.unique
