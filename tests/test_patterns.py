"""Patterns over several words, and what the index can be asked for them."""

import pytest

from searchkit import Engine
from searchkit.backends.embedded.patterns import all_match, pieces, spans_words
from tests.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"time(out|r)", False),
        (r"[a-z]+Error", False),
        (r"colou?r", False),
        (r"timeout: \d+ms", True),
        (r"foo.*bar", True),
        (r"\bfoo\b", True),
        (r"user_name", True),
        (r"[^a]b", True),
    ],
)
def test_pattern_spans_words_where_it_can_match_beyond_one(pattern: str, expected: bool) -> None:
    """White space, signs and anything that can match them lead out of a word."""
    assert expected == spans_words(pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"Timeout: \d+ms", ["timeout"]),
        (r"charge[ds]? twice", ["charge", "twice"]),
        (r"(abc)?defg", ["defg"]),
        (r"abc(def)+", ["abcdef"]),
        (r"abcd?", ["abc"]),
        (r"one|other", []),
        (r"(?:x)yes", []),
        (r"\w+ \d+", []),
    ],
)
def test_pieces_are_what_every_match_holds(pattern: str, expected: list[str]) -> None:
    """What may be absent is no piece, and of alternatives none is certain."""
    assert expected == pieces(pattern)


def test_pattern_is_bounded_whatever_it_is() -> None:
    """A pattern that makes other engines try for ages answers at once, and one that is too large matches nothing."""
    text = "a" * 50_000

    assert not all_match([r"(a+)+ $"], text)
    assert not all_match([r"((a{1,100}){1,100}){1,100}b"], text)


def test_pattern_over_several_words_finds_what_it_matches(home: Home) -> None:
    """Parts that hold the pieces but do not match are not found, and matches are marked."""
    transcript = home.session(SESSION)
    transcript.prompt("the Timeout: 250ms was too short")
    transcript.prompt("a timeout of 250 ms")
    with Engine(home.root.parent / "index", [home.root]) as engine:
        engine.index()

        answer = engine.search(r"/timeout: \d+ms/", is_grouped=False)

    (result,) = answer.results
    passage = result.best.passage
    assert ["Timeout: 250ms"] == [passage.text[start:end] for start, end in passage.highlights]
    assert 1 == answer.total
