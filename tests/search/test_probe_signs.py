"""Phrases, excluded and required words, alternatives, prefixes, misspelt words and patterns mean what they say."""

from collections.abc import Iterator

import pytest

from searchkit import Engine
from tests.support.answers import SESSION
from tests.support.probe import every, searched, texts
from tests.support.transcript import Home

TEXTS = [
    "to be or not to be",
    "to be or not, that is to be",
    "red green blue",
    "red and green",
    "green red",
    "我们需要修复认证模块",
    "修复了模块的认证",
    "fooBar then some bazQux",
    "the cat sat",
    "the dog sat",
    "cat and dog",
    "configure",
    "configurator",
    "confident",
    "one colour",
    "a kitten",
    "error 404 not found",
    "Error: ENOENT, open",
    "it said x = 1; then y = 2",
    "the user's guide",
]

# A question, the texts that answer it, and what is marked in the first text that holds a mark.
ASKED: list[tuple[str, set[str], str]] = [
    # Phrases: the order counts, other words do not come between, and words that say nothing count too.
    ('"red green"', {"red green blue"}, "red green"),
    ('"green red"', {"green red"}, "green red"),
    ('"red blue"', set(), ""),
    ('"to be or not to be"', {"to be or not to be"}, "to be or not to be"),
    ('"the cat"', {"the cat sat"}, "the cat"),
    ('"x 1"', {"it said x = 1; then y = 2"}, "x = 1"),
    ('"x=1;"', {"it said x = 1; then y = 2"}, "x = 1"),
    ('"the user\'s guide"', {"the user's guide"}, "the user's guide"),
    ('"修复认证"', {"我们需要修复认证模块"}, "修复认证"),
    ('"认证模块"', {"我们需要修复认证模块"}, "认证模块"),
    ('"模块认证"', set(), ""),
    ("「修复认证」", {"我们需要修复认证模块"}, "修复认证"),
    ('"foo bar"', {"fooBar then some bazQux"}, "fooBar"),
    ('"bar baz"', set(), ""),
    ('"qux foo"', set(), ""),
    ('"configured"', set(), ""),
    ('red "green blue"', {"red green blue"}, "red green blue"),
    ('cat "green blue"', {"red green blue"}, "green blue"),
    # Excluded.
    ("cat -dog", {"the cat sat"}, "cat"),
    ('red -"red green"', {"red and green", "green red"}, "red"),
    ("sat -cat -dog", set(), ""),
    ("confident conf* -configuring", {"confident"}, "confident"),
    ("red -gre*", set(), ""),
    ("error -/40[0-9]/", {"Error: ENOENT, open"}, "Error"),
    # Required, and either of two.
    ("+cat dog", {"the cat sat", "cat and dog"}, "cat"),
    ("+cat +dog", {"cat and dog"}, "cat"),
    ("+nowhere cat", set(), ""),
    ("cat dog", {"the cat sat", "the dog sat", "cat and dog"}, "cat"),
    ("cat OR dog", {"the cat sat", "the dog sat", "cat and dog"}, "cat"),
    ("+cat OR +kitten", {"the cat sat", "cat and dog", "a kitten"}, "cat"),
    ('"red green" OR "green red"', {"red green blue", "green red"}, "red green"),
    ("nowhere OR kitten", {"a kitten"}, "kitten"),
    # Beginnings.
    ("conf*", {"configure", "configurator", "confident"}, "configure"),
    ("configura*", {"configurator"}, "configurator"),
    ("CONFI*", {"configure", "configurator", "confident"}, "configure"),
    ("修复*", {"我们需要修复认证模块", "修复了模块的认证"}, "修复"),
    ("zebra*", set(), ""),
    # Misspelt.
    ("coluor~", {"one colour"}, "colour"),
    ("kiten~", {"a kitten"}, "kitten"),
    ("confgiurator~", {"configurator"}, "configurator"),
    ("kitten~", {"a kitten"}, "kitten"),
    ("kxxten~", set(), ""),
    # Patterns match inside a word; what says that a word begins or ends is heeded, and the case is not.
    ("/conf.g.*/", {"configure", "configurator"}, "configure"),
    ("/\\bc.t\\b/", {"the cat sat", "cat and dog"}, "cat"),
    (r"/\bCAT\b/", {"the cat sat", "cat and dog"}, "cat"),
    ("/^at|itt/", {"a kitten"}, "itt"),
    ("/^kitt|dog$/", {"cat and dog"}, "dog"),
    (r"/conf\w+r\b/", {"configurator"}, "configurator"),
    (r"/co[\w]f\S*?nt/", {"confident"}, "confident"),
    (r"/[0-9]{3}/", {"error 404 not found"}, "404"),
    (r"/error \d+ not/", {"error 404 not found"}, "error 404 not"),
    ("/configur(e|ator)/", {"configure", "configurator"}, "configure"),
    ("/E[A-Z]O.*T/", {"Error: ENOENT, open"}, "ENOENT"),
    ("/(zebra)+/", set(), ""),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of the texts, each a prompt of its own."""

    def write(home: Home) -> None:
        transcript = home.session(SESSION)
        for text in TEXTS:
            transcript.prompt(text)

    with searched(tmp_path_factory.mktemp("signs"), write) as opened:
        yield opened


@pytest.mark.parametrize(("asked", "expected", "marked"), ASKED, ids=[asked for asked, *_ in ASKED])
def test_signs_mean_what_they_say(engine: Engine, asked: str, expected: set[str], marked: str) -> None:
    """Exactly these texts are found, and the passage marks why."""
    found = every(engine, asked)

    assert expected == {result.best.stored.part.text for result in found}
    if marked:
        first = min(found, key=lambda result: TEXTS.index(result.best.stored.part.text))
        passage = first.best.passage
        pieces = [passage.text[start:end] for start, end in passage.highlights]
        assert marked in (pieces[0], " ".join(pieces))


@pytest.mark.parametrize(
    ("asked", "count"), [("-cat", 18), ("-cat -dog", 17), ("kind:prompt", 20), ("-kind:prompt", 0)], ids=str
)
def test_nothing_but_what_is_excluded(engine: Engine, asked: str, count: int) -> None:
    """Without a word to look for, everything is found that is not excluded."""
    assert count == len(every(engine, asked))


@pytest.mark.parametrize("asked", ["the", "the what is", "The"])
def test_words_that_say_nothing_are_looked_for_alone(engine: Engine, asked: str) -> None:
    """A question of nothing but such words is taken at its word."""
    assert {"the cat sat", "the dog sat"} <= set(texts(engine, asked))


def test_words_that_say_nothing_are_left_out_beside_others(engine: Engine) -> None:
    """What matters of a question decides."""
    assert {"the cat sat", "cat and dog"} == set(texts(engine, "where is the cat"))
