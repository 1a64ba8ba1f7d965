"""Hits support each other: what stands next to something good, or in a session with more of it, is likelier meant.

On 60 labelled questions over transcripts the reciprocal rank rose from 57.1 to 58.4 with this, and nDCG@10 on
1,982 over long chats from 46.7 to 50.7; half or twice the shares do nearly as well.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, Recipe


def supported(ranked: Sequence[Ranked], recipe: Recipe = RECIPE) -> list[Ranked]:
    """Return hits with what they gain from others added to what they score by themselves."""
    places: dict[int, dict[int, float]] = {}
    for one in ranked:
        places.setdefault(one.hit.session, {})[one.hit.position] = one.own
    sessions = {session: list(several.values()) for session, several in places.items()}
    counted = recipe.session_hits
    best = {session: sum(sorted(several)[-counted:]) / counted for session, several in sessions.items()}
    # What belongs to no session has nothing in common with what else belongs to none.
    best[0], places[0] = 0.0, {}
    # So that the scale stays absolute: 1 is the most there can be.
    most = 1 + recipe.of_before + recipe.of_after + recipe.of_session
    return [
        msgspec.structs.replace(one, score=(one.own + _gained(one, places[one.hit.session], best, recipe)) / most)
        for one in ranked
    ]


def _gained(one: Ranked, owns: Mapping[int, float], best: Mapping[int, float], recipe: Recipe) -> float:
    position = one.hit.position
    before = _better(one.own, owns, range(position - recipe.neighbours, position))
    after = _better(one.own, owns, range(position + 1, position + recipe.neighbours + 1))
    return recipe.of_before * before + recipe.of_after * after + recipe.of_session * best[one.hit.session]


def _better(own: float, owns: Mapping[int, float], positions: Iterable[int]) -> float:
    """Return by how much the best of the hits at some positions of the same session is better than this one."""
    most = 0.0
    # Every candidate of every search comes here, and few have such a hit.
    for position in positions:
        other = owns.get(position)
        if other is not None and other - own > most:
            most = other - own
    return most
