"""Patterns over several words in questions: beside words, excluded, in any script, refused, and hidden by filters."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local.words import search, store
from tests.support.answers import OTHER, SESSION
from tests.support.probe import every, searched, texts
from tests.support.transcript import Home

TEXTS = [
    "alpha   beta",
    "alpha then beta",
    "baz alone",
    "alpha words and a hundred more",
    "alpha 100 beta words",
    "alpha_beta",
    "path auth/login here",
    "words with z q in them",
    "words with z and q apart",
    "the café opens",
    "a CAFE closes",
    "cafe\u0301 au lait",
    "数据库1 出错",
    "数据库的错误",
    "user_account_id",
    "if x <div> y",
    "red, green",
]

ASKED: list[tuple[str, set[str]]] = [
    # Any of the alternatives will do, and what only holds the pieces of a pattern does not.
    (r"/alpha\s+beta/ OR baz", {"alpha   beta", "baz alone"}),
    (r"/alpha\s+beta/ OR +baz", {"alpha   beta", "baz alone"}),
    (r'/alpha\s+beta/ OR "red green"', {"alpha   beta", "red, green"}),
    (r"/alpha\s+beta/ OR /z\sq/", {"alpha   beta", "words with z q in them"}),
    (r"lait /alpha\s+beta/ OR baz", {"alpha   beta", "baz alone", "cafe\u0301 au lait"}),
    (r"/\d\s\d/ OR baz", {"baz alone"}),
    (r"/alpha.+beta/ /\d\s/", {"alpha 100 beta words"}),
    # Excluded.
    (r"with words -/z\sq/", {"words with z and q apart", *TEXTS[3:5]}),
    (r"+alpha -/alpha\s+beta/ -/\d+/", {*TEXTS[1:2], *TEXTS[3:4], "alpha_beta"}),
    # Repetitions are no text, and classes may hold blanks and signs.
    (r"/alpha.{0,100}words/", {"alpha words and a hundred more", "alpha 100 beta words"}),
    (r"/alpha[ _-]beta/", {"alpha_beta"}),
    (r"/alpha[\s_]+beta/", {"alpha   beta", "alpha_beta"}),
    (r"/auth[.\/]login/", {"path auth/login here"}),
    (r"/user\w+id/", {"user_account_id"}),
    (r"/\<div\>/", {"if x <div> y"}),
    (r"/alpha\s{,3}beta/", {"alpha   beta"}),
    # Accents do not matter, and scripts without spaces are found.
    (r"/café\w*/", {"the café opens", "a CAFE closes", "cafe\u0301 au lait"}),
    (r"/cafe (?:au|opens)/", {"the café opens", "cafe\u0301 au lait"}),
    (r"/caf\u00e9 o/", {"the café opens"}),
    (r"/数据库\d/", {"数据库1 出错"}),
    (r"/数据库.?错误/", {"数据库的错误"}),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of the texts, each a prompt of its own, and of one text in another session."""

    def write(home: Home) -> None:
        transcript = home.session(SESSION)
        for text in TEXTS:
            transcript.prompt(text)
        home.session(OTHER).prompt("gamma  delta")

    with searched(tmp_path_factory.mktemp("patterns"), write) as opened:
        yield opened


@pytest.mark.parametrize(("asked", "expected"), ASKED, ids=[asked for asked, _ in ASKED])
def test_pattern_means_what_it_says(engine: Engine, asked: str, expected: set[str]) -> None:
    """Exactly the texts are found that match."""
    assert expected == set(texts(engine, asked))


def test_match_is_marked_without_its_accent(engine: Engine) -> None:
    """A pattern with an accent marks what has none, and the other way round."""
    for asked, marked in ((r"/CAFÉ clos\w+/", "CAFE closes"), (r"/cafe op\w+/", "café opens")):
        (result,) = every(engine, asked)

        passage = result.best.passage

        assert [marked] == [passage.text[start:end] for start, end in passage.highlights]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"/alpha(?=\s+beta)/", "looks around or back"),
        (r"/(alpha|beta) \1/", "looks around or back"),
        (r"/alpha\s++beta/", "looks around or back"),
        (r"/((a{1,100}){1,100}){1,100}alpha/", "repeats too much"),
        (r"/\w{1,1000}alpha/", "repeats too much"),
    ],
)
def test_pattern_that_cannot_be_run_is_words(engine: Engine, pattern: str, reason: str) -> None:
    """What no engine of bounded time can run is read as words, and a note says so."""
    answer = engine.search(pattern, group="none")

    (note,) = answer.query.notes
    assert f"{pattern} was read as words: it {reason}" in note
    assert len(answer.results) > 1


@pytest.mark.parametrize("pattern", [r"/[(?=]alpha\\1?/", r"/\w{1,30}\s[0-9]\w{1,50}zz/", r"/alpha.{0,1000}beta/"])
def test_pattern_that_can_be_run_is_one(engine: Engine, pattern: str) -> None:
    """Signs inside classes and behind escapes look around nowhere, and some repetition is not too much."""
    assert () == engine.search(pattern).query.notes


def test_pattern_that_only_the_engine_refuses_is_words(engine: Engine) -> None:
    """What is found out late is read as words, too, and hides nothing."""
    assert {"alpha   beta", "alpha then beta"} <= set(texts(engine, r"/alpha[\b]beta/"))


@pytest.mark.parametrize(
    ("asked", "hidden"),
    [
        (rf"/gamma\s+delta/ session:{SESSION}", 1),
        (rf"/gamma\sdelta/ session:{SESSION}", 0),
        (rf"/alpha\s{{9}}beta/ session:{SESSION}", 0),
        (rf"/alpha\s+beta/ session:{SESSION}", 0),
    ],
)
def test_hidden_counts_what_matches(engine: Engine, asked: str, hidden: int) -> None:
    """Only what the filters alone keep away is hidden, not what merely holds the pieces of a pattern."""
    assert hidden == engine.search(asked).hidden


def test_what_is_not_looked_at_is_unseen(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time is over, the rest is counted as unseen; the newest come first."""
    monkeypatch.setattr(search, "MOST_LOOKED_AT", 3)
    few = engine.search(r"/\s\w/", group="none")
    monkeypatch.setattr(search, "LOOKING_SECONDS", -1.0)
    none = engine.search(r"/\s\w/", group="none")

    assert len(TEXTS) + 1 - 3 == few.unseen
    assert "red, green" in [result.best.stored.part.text for result in few.results]
    assert (len(TEXTS) + 1, 0) == (none.unseen, none.total)


def test_slow_pattern_is_given_up_in_time(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A pattern that takes seconds for a long text leaves it unseen, and finds what is quick to look at."""

    def write(home: Home) -> None:
        transcript = home.session(SESSION)
        transcript.prompt("the quick brown fox " * 50_000)
        transcript.prompt("fox zz")

    with searched(tmp_path_factory.mktemp("slow"), write) as engine:
        started = time.monotonic()

        answer = engine.search(r"/.{1,400}zz/", group="none")

        assert time.monotonic() - started < 4 * search.LOOKING_SECONDS
        assert (1, 1) == (answer.total, answer.unseen)


def test_texts_are_looked_at_by_rank(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few are looked at together, the same is found."""
    monkeypatch.setattr(store, "LOOKED_AT_ONCE", 2)

    assert {"alpha   beta", "alpha_beta"} == set(texts(engine, r"/alpha[\s_]+beta/"))


def test_facets_count_what_a_pattern_matches(home: Home, tmp_path: Path) -> None:
    """Not what only holds its pieces."""
    transcript = home.session(SESSION)
    transcript.prompt("alpha beta")
    transcript.prompt("beta, then alpha")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        answer = engine.search(r"/alpha\s+beta/", facets=["kind"])

    assert (1, {"kind": {"prompt": 1}}) == (answer.total, answer.facets)
