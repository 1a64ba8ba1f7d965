"""What was said to a prompt is found by the words of the prompt, in other languages than English."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from searchkit import Engine
from searchkit.backends.local.backend import LocalBackend
from searchkit.query.parse import understand
from searchkit.search import semantic
from searchkit.search.ranking import rank
from searchkit.search.types import QuestionVectors
from searchkit.search.weights import RECIPE, Recipe, without
from searchkit.sources import tools
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def backend(home: Home, tmp_path: Path) -> Iterator[LocalBackend]:
    """Two sessions, in which prompts are answered in other words."""
    first, second = home.session(SESSION), home.session(OTHER)
    first.prompt("le quota est trop petit, quota max")
    first.text("Relevé hier.")
    first.prompt("merci")
    first.text("De rien.")
    first.prompt("encore le quota max")
    second.prompt("bonjour")
    second.text("Bonjour.")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()
    with closing(LocalBackend(tmp_path / "index")) as opened:
        yield opened


def found(backend: LocalBackend, words: str, recipe: Recipe = RECIPE) -> set[str]:
    """Return what is found by words and by what stands behind them; nothing has a vector."""
    query = tools.without(understand(words, now=NOW))
    hits = rank(backend.words.search(query, 10).hits, query, recipe)
    ranked = semantic.ranked(backend, query, QuestionVectors(chosen=np.zeros(384, np.float32)), hits, recipe=recipe)
    return {one.part.text for one in backend.catalog.stored([one.hit.key for one in ranked]) if one}


@pytest.mark.parametrize("words", ["pourquoi le quota est petit", "quota为什么这么小"])
def test_answer_is_found_by_the_words_of_its_prompt(backend: LocalBackend, words: str) -> None:
    """What was said before the next prompt is found, and nothing of another turn or session."""
    prompts = {"le quota est trop petit, quota max", "encore le quota max"}

    assert prompts | {"Relevé hier."} == found(backend, words)


@pytest.mark.parametrize(
    "words",
    [
        "why is the quota so small",
        "le quota",
        'pourquoi "quota" est petit',
        "pourquoi +quota est petit",
        "pourquoi le quota est petit -hier",
        "pourquoi le quota est petit kind:prompt",
    ],
)
def test_what_was_asked_for_expressly_is_all_that_is_found(backend: LocalBackend, words: str) -> None:
    """Signs and filters are kept to; in English meaning finds answers."""
    assert {"le quota est trop petit, quota max", "encore le quota max"} == found(backend, words)


def test_replies_can_be_left_out(backend: LocalBackend) -> None:
    """It is a step of the ranking like others."""
    assert "Relevé hier." not in found(backend, "pourquoi le quota est petit", without(["replies"]))
