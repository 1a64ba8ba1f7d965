"""How words and meaning are added up."""

import pytest

from searchkit.backends.base import Hit
from searchkit.features import feature
from searchkit.fuse import Meant, fuse, meaning, weight_of
from searchkit.results import Ranked
from searchkit.types import Kind


@pytest.mark.parametrize(
    ("question", "weight"),
    [
        ("why was the build red", 0.3),
        ("getUserName", 0.1),
        ("src/auth/login.py", 0.1),
        ('"exact words"', 0.1),
        ("为什么构建失败", 0.05),
    ],
)
def test_meaning_weighs_what_the_question_allows(question: str, weight: float) -> None:
    """Names and quotations are meant as words, and so is what the model cannot read."""
    assert weight == weight_of(question)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Kind.TEXT, "Let me check the log.", 0.72),
        (Kind.TEXT, "Great! Now I'll run it.", 0.72),
        (Kind.TEXT, "The root cause is the clock.", 0.99),
        (Kind.TEXT, "x" * 200, 1.0),
        (Kind.PROMPT, "let me check", 1.0),
    ],
)
def test_saying_counts_by_its_kind(kind: Kind, text: str, expected: float) -> None:
    """Narration counts less, a conclusion more, and what a person typed as it is."""
    assert expected == pytest.approx(feature(kind, text))


def test_what_only_meaning_found_is_ranked_too() -> None:
    """It comes before what holds one of the words and means something else."""
    words = [ranked(1, 0.1)]

    order = [one.hit.key for one in fuse(words, [hit(2)], {1: Meant(cosine=0.0), 2: Meant(cosine=0.9)}, 0.3)]

    assert [2, 1] == order


def test_result_means_what_its_call_means() -> None:
    """A share of it, since results have no vectors of their own."""
    found = meaning(hit(1, Kind.TOOL_RESULT), Meant(cosine=0.5, is_of_call=True))

    assert 0.5 * 0.8 * 0.85 == pytest.approx(found)


def test_opposite_meaning_takes_nothing_away() -> None:
    """A negative cosine counts as none."""
    assert 0.0 == meaning(hit(1), Meant(cosine=-0.5))


def ranked(key: int, own: float) -> Ranked:
    """Make a hit that words gave so much."""
    return Ranked(hit=hit(key), weight=1.0, own=own, score=own)


def hit(key: int, kind: Kind = Kind.TEXT) -> Hit:
    """Make a hit in a session of its own."""
    return Hit(key=key, kind=kind, session=key, time=0, is_agents=False, score=0.0, coverage=0.0)
