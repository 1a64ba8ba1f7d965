"""What hits gain from each other."""

import pytest

from searchkit.backends.base import Hit
from searchkit.search.ranking import supported
from searchkit.search.types import Ranked
from searchkit.types import Kind


def test_session_with_a_better_hit_comes_first() -> None:
    """Of two equally good hits the one whose session holds a better one is likelier meant."""
    scores = scored((10, 1, 0.5), (20, 1, 0.4), (30, 2, 0.4))

    assert scores[20] > scores[30]


def test_what_stands_next_to_something_better_gains() -> None:
    """The part before and the part after a good hit rise above one that stands alone in the session."""
    scores = scored((10, 1, 0.2), (11, 1, 0.9), (12, 1, 0.2), (50, 1, 0.2))

    assert scores[11] > scores[12] > scores[10] > scores[50]


def test_equals_gain_nothing_from_each_other() -> None:
    """Among many equal hits none is lifted by its place, so that the newer comes first."""
    scores = scored(*((key, 1, 0.5) for key in range(5)))

    assert 1 == len(set(scores.values()))


def test_what_belongs_to_no_session_stands_alone() -> None:
    """Plans and memory do not support each other."""
    scores = scored((10, 0, 0.5), (11, 0, 0.9))

    assert 0.5 / 0.9 == pytest.approx(scores[10] / scores[11])


def test_scale_stays_absolute() -> None:
    """A perfect hit among perfect ones scores at most 1."""
    scores = scored(*((key, 1, 1.0) for key in range(3)))

    assert max(scores.values()) <= 1


def scored(*hits: tuple[int, int, float]) -> dict[int, float]:
    """Return the scores of hits, each given by its key, its session and its own score."""
    ranked = [Ranked(hit=_hit(key, session), weight=1.0, own=own, score=own) for key, session, own in hits]
    return {one.hit.key: one.score for one in supported(ranked)}


def _hit(key: int, session: int) -> Hit:
    return Hit(key=key, position=key, kind=Kind.TEXT, session=session, time=0, is_agents=False, score=1.0, coverage=1.0)
