"""Patterns over several words, and what the index can be asked for them."""

import pytest

from searchkit import Engine
from searchkit.backends.local.words.regex import is_match, is_runnable, pieces, spans_words
from tests.support.transcript import Home

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
        (r"alpha[ _-]beta", True),
        (r"alpha[\s_]+beta", True),
        (r"auth[.\/]login", True),
        (r"foo\Dbar", True),
        (r"user\w+id", True),
        (r"\w+Error\w*", False),
        (r"caf\u00e9", True),
        (r"\x41b", True),
        ("café", True),
        (r"数据库\d", True),
        (r"[a-z]{1,200}zz", True),
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
        (r"(?:one|other) thing", ["thing"]),
        (r"(?:x)yes", ["xyes"]),
        (r"(?i)yes", ["yes"]),
        (r"(?x)yes # no", []),
        (r"one[|]other\|third", ["other", "third", "one"]),
        (r"abc(def)+ghi", ["abcdef", "ghi"]),
        (r"alpha.{0,100}words", ["alpha", "words"]),
        (r"(abc){2}", ["abc"]),
        (r"\u00e9t\x41lon", ["lon"]),
        (r"café\w*", ["cafe"]),
        (r"数据库.?错误", ["数据", "据库", "错误"]),
        (r"\w+ \d+", []),
    ],
)
def test_pieces_are_what_every_match_holds(pattern: str, expected: list[str]) -> None:
    """What may be absent is no piece, and of alternatives none is certain."""
    assert expected == pieces(pattern)


def test_pattern_is_bounded_whatever_it_is() -> None:
    """A pattern that makes other engines try for ages answers at once, and one that is too slow says so."""
    text = "a" * 50_000

    assert not is_match(r"(a+)+ $", text, 1.0)
    assert not is_runnable(r"((a{1,100}){1,100}){1,100}b")
    with pytest.raises(TimeoutError):
        is_match(r".{1,500}zz", text * 10, 0.2)


def test_pattern_over_several_words_finds_what_it_matches(home: Home) -> None:
    """Parts that hold the pieces but do not match are not found, and matches are marked."""
    transcript = home.session(SESSION)
    transcript.prompt("the Timeout: 250ms was too short")
    transcript.prompt("a timeout of 250 ms")
    with Engine(home.root.parent / "index", [home.root]) as engine:
        engine.index()

        answer = engine.search(r"/timeout: \d+ms/", group="none")

    (result,) = answer.results
    passage = result.best.passage
    assert ["Timeout: 250ms"] == [passage.text[start:end] for start, end in passage.highlights]
    assert 1 == answer.total
