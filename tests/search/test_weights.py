"""The numbers of the ranking, and what is left when a step of it is left out."""

import msgspec
import pytest

from searchkit.backends.base import Hit
from searchkit.errors import UsageError
from searchkit.query.parse import understand
from searchkit.query.types import Period, Span
from searchkit.search.ranking import Meant, fuse, rank
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, STEPS, Recipe, without
from searchkit.types import Kind

QUESTION = "why getUserName failed"


# Steps that ask the backend; the tests of these leave them out one by one.
ASKING = ("filled-cosines", "filled-words", "replies", "conclusions")


@pytest.mark.parametrize("step", [step for step in STEPS if step not in ASKING])
def test_every_step_changes_the_ranking(step: str) -> None:
    """Without a step, some hit scores otherwise than with it."""
    assert scores(RECIPE) != scores(without([step]))


def test_steps_are_left_out_together() -> None:
    """What is left out of both is left out."""
    recipe = without(["coverage", "session"])

    assert (0.0, 0.0) == (recipe.coverage_power, recipe.of_session)


def test_unknown_step_is_named() -> None:
    """Who mistypes a step is told which there are."""
    with pytest.raises(UsageError, match="'covrage' is no step") as error:
        without(["covrage"])

    assert "coverage" in error.value.hint


def test_recipe_cannot_be_changed() -> None:
    """One search cannot change the numbers of another."""
    with pytest.raises(AttributeError, match="immutable"):
        RECIPE.meaning = 1.0  # type: ignore[misc]  # that it is refused is what this shows


def scores(recipe: Recipe) -> list[tuple[int, float]]:
    """Rank some hits of which every step has something to say."""
    period = Period(spans=(Span(start=0, end=10),))
    query = msgspec.structs.replace(understand(QUESTION), period=period, sessions=frozenset({1}))
    hits = [hit(1, Kind.TEXT, 0.5), hit(2, Kind.TOOL_RESULT, 0.4), hit(3, Kind.PROMPT, 0.3)]
    meant = {
        1: Meant(cosine=0.3, feature=0.8, prompt=0.4),
        2: Meant(cosine=0.6, is_of_call=True),
        3: Meant(cosine=0.5),
    }
    found = fuse(rank(hits, query, recipe, is_alone=False), [], meant, query, recipe)
    return [told(one) for one in found]


def told(one: Ranked) -> tuple[int, float]:
    """Say what was found and how good it is."""
    return one.hit.key, round(one.score, 6)


def hit(key: int, kind: Kind, score: float) -> Hit:
    """Make a hit of a session, the first within the time that was asked for."""
    found = Hit(key=key, position=key, kind=kind, session=1, time=5, is_agents=False, score=score, coverage=0.5)
    return found if key == 1 else msgspec.structs.replace(found, time=50)
