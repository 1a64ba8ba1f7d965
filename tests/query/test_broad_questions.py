"""Questions that ask for nearly everything: what they may take is bounded, and the answer says what was cut."""

import random
from collections.abc import Callable
from string import ascii_lowercase, digits
from typing import Any

import pytest

from searchkit.backends.base import Backend
from searchkit.backends.local.catalog import sessions as telling
from searchkit.backends.local.words import highlight
from searchkit.backends.local.words import query as matching
from searchkit.backends.local.words.highlight import marks
from searchkit.backends.local.words.query import MOST_CHUNKS, looked_at
from searchkit.query.parse import understand
from searchkit.query.types import MOST_BROAD_SCANS, MOST_SCANS, Match, Query, Term, is_broad, is_scan
from searchkit.text import analysis
from tests.support.answers import SESSION, found
from tests.support.running import Run
from tests.support.transcript import Home

Index = Callable[[], Backend]
LETTERS = ascii_lowercase + digits
BROAD = {
    "letters behind a sign": " ".join(f".{one}*" for one in LETTERS),
    "prefixes of two letters": " ".join(f"{one}e*" for one in LETTERS),
    "either of many prefixes": " OR ".join(f"{one}e*" for one in LETTERS),
    "prefixes that must be": " ".join(f"+{one}e*" for one in LETTERS),
    "prefixes that must not be": "lantern " + " ".join(f"-{one}er*" for one in LETTERS),
    "misspelt words": " ".join(f"lan{one}{other}~" for one in ascii_lowercase for other in "abcde")[:990],
    "patterns": " ".join(f"/{one}[a-z]+{other}/" for one in ascii_lowercase for other in "abc")[:990],
    "patterns that span words": " ".join(f"/{one}.*{other}/" for one in ascii_lowercase for other in "abc")[:990],
    "all of these": "la* /l+/ lamp~ " + " ".join(f"{one}e* /{one}+/ lan{one}~" for one in ascii_lowercase),
}


def scans(query: Query) -> set[Term]:
    """Return what a question goes through all words for."""
    clauses = looked_at(query, MOST_CHUNKS)
    return {term for clause in clauses for term in clause.terms if is_scan(term)}


def counted(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """Let a function note the last of what it is given."""

    def count(*given: Any) -> Any:
        calls.append(given[-1])
        return function(*given)

    return count


@pytest.mark.parametrize("words", BROAD.values(), ids=BROAD)
def test_question_takes_no_more_than_so_many_scans(home: Home, indexed: Index, words: str) -> None:
    """Issue 15: of many prefixes, misspelt words and patterns the first count, the same ones every time."""
    home.session(SESSION).prompt("the lantern and the lamp are in the attic")
    backend = indexed()

    query = understand(words)

    assert len(scans(query)) <= MOST_SCANS
    assert sum(map(is_broad, scans(query))) <= MOST_BROAD_SCANS
    assert scans(query) == {term for clause in query.clauses for term in clause.terms if is_scan(term)}
    assert query == understand(words)
    assert found(backend, words) == found(backend, words)


@pytest.mark.parametrize("words", [words for name, words in BROAD.items() if "sign" not in name])
def test_answer_says_what_was_cut(home: Home, run: Run, words: str) -> None:
    """Issue 15: what was read as words instead is named, in words and in JSON."""
    home.session(SESSION).prompt("the lantern and the lamp are in the attic")
    run("index")

    told, written = run("search", words), run("search", words, "--json")

    assert "Read as words: " in told.err
    assert any(note.startswith("Read as words: ") and " more. " in note for note in written.json["notes"])


def test_few_signs_are_taken_as_they_are() -> None:
    """Issue 15: nobody who asks a question notices that there is a limit."""
    query = understand("la* /a+/ .co* lantern~ config~ -/exit+/ kitchen*")

    assert () == query.notes
    assert [Match.PREFIX, Match.REGEX, Match.PREFIX, Match.FUZZY] == [
        clause.terms[0].match for clause in understand("la* /a+/ .co* lantern~").clauses
    ]
    assert query.clauses == tuple(looked_at(query, MOST_CHUNKS))


def test_same_sign_again_takes_no_further_scan() -> None:
    """Issue 15: a prefix that is written a hundred times is one."""
    query = understand("lan* " * 100 + "lan* OR attic")

    assert () == query.notes
    assert {Match.PREFIX, Match.WORD} == {term.match for clause in query.clauses for term in clause.terms}
    assert {Term(text="lan", match=Match.PREFIX)} == scans(query)


@pytest.mark.parametrize("word", [".a*", "_a*", "a_*", "(a*"])
def test_prefix_has_two_letters(word: str) -> None:
    """Issue 15: a sign before a letter does not make a prefix of it."""
    assert Match.WORD is understand(word).clauses[0].terms[0].match


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Term(text="la"), False),
        (Term(text="a b", match=Match.PHRASE), False),
        (Term(text="la", match=Match.PREFIX), True),
        (Term(text="lan", match=Match.PREFIX), False),
        (Term(text="提灯", match=Match.PREFIX), False),
        (Term(text="lamp", match=Match.FUZZY), False),
        (Term(text="[a-z]+x", match=Match.REGEX), True),
        (Term(text=r"\d{1000}", match=Match.REGEX), True),
        (Term(text=r"lan\w+", match=Match.REGEX), False),
    ],
)
def test_sign_with_few_letters_is_broad(term: Term, expected: bool) -> None:
    """Issue 15: a sign with hardly a letter of its own goes through most of an index."""
    assert expected is is_broad(term)


def test_prefixes_expand_to_so_many_words_together(home: Home, indexed: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15: however many prefixes are asked for, no more words rank than ten of them may have."""
    chance = random.Random(1)
    words = ["".join(chance.choices(ascii_lowercase, k=5)) for _ in range(4_000)]
    home.session(SESSION).prompt(" ".join(words))
    backend = indexed()
    asked: list[str] = []
    monkeypatch.setattr(matching.Matcher, "_term", counted(matching.Matcher._term, asked))

    found(backend, " ".join(f"{one}e*" for one in ascii_lowercase))

    assert 0 < len(asked) <= MOST_SCANS * matching.MOST_PREFIXED


def test_very_long_text_is_read_at_both_ends() -> None:
    """Issue 15: of a megabyte of words the first and the last are read, and that is said."""
    query = understand(" ".join(f"word{number}" for number in range(100_000)))

    assert 10_000 == len(query.clauses)
    assert ("word0", "word99999") == (query.clauses[0].terms[0].text, query.clauses[-1].terms[0].text)
    assert ("Of 100,000 words the first and the last 5,000 were read.",) == query.notes


def test_long_text_that_fits_is_read_whole() -> None:
    """Issue 15: a stack trace that somebody pastes is read as it is."""
    query = understand(" ".join(f"word{number}" for number in range(10_000)))

    assert (10_000, ()) == (len(query.clauses), query.notes)


def test_many_alternatives_are_one_clause() -> None:
    """Issue 15: however many alternatives a question has, there is nothing nested in it."""
    (clause,) = understand(" OR ".join(f"w{number}" for number in range(120))).clauses

    assert 120 == len(clause.terms)


def test_letters_are_marked_as_words_and_as_parts_of_names() -> None:
    """Issue 15: a letter that is a word is marked wherever it stands alone, and not where it begins another."""
    text = "x axis, getX(), getXValue, X1, max x_y Xylo x"

    marked = [text[start:end] for start, end in marks(understand("x"), text)]

    assert ["x", "X", "X", "x", "x"] == marked


def test_letters_take_one_look_at_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15: asking for every letter does not look at every word."""
    text = " ".join(f"{one}{number}" for number in range(1_000) for one in ("lantern", "attic", "kitchen"))
    looks: list[str] = []
    monkeypatch.setattr(highlight, "stem", counted(analysis.stem, looks))

    assert [] == marks(understand(" ".join(LETTERS)), text)

    assert len(looks) < 100


def test_places_of_a_text_that_are_looked_at_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15: words that many others begin with are not looked for in all of a long text; long words are."""
    text = "silver rival tiger " * 10_000 + "lantern"
    looks: list[str] = []
    monkeypatch.setattr(highlight, "stem", counted(analysis.stem, looks))

    found = marks(understand("si ri ti lantern"), text)

    assert (len(text) - 7, len(text)) in found
    # Each place is the beginning of a word, or of a part of a name.
    assert len(looks) <= 2 * highlight.MOST_PLACES + 10


def test_comparisons_with_misspelt_words_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15: words that cannot be meant are not compared letter by letter, and of others only so many."""
    chance = random.Random(1)
    near = ["".join(chance.sample("lanterns", 7)) for _ in range(9_000)]
    text = " ".join(["lantren", *(f"zzq{number:04}" for number in range(2_000)), *near])
    compared: list[str] = []
    # It is symmetric, and the word of the text comes first.
    difference = counted(highlight.difference, compared)
    monkeypatch.setattr(highlight, "difference", lambda one, other: difference(other, one))
    words = [f"lanter{one}~" for one in "nslt"] + [f"lan{one}ern~" for one in "tlnr"]

    assert (0, 7) in marks(understand(" ".join(words)), text)

    assert len(compared) <= highlight.MOST_COMPARED
    assert not any("zzq" in one for one in compared)


def test_sessions_by_many_words_reads_titles_a_few_times(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 15: why no session is listed is found out without reading all titles for each pair of words."""
    home.session(SESSION).prompt("the lantern")
    run("index")
    readings: list[object] = []
    monkeypatch.setattr(telling, "titles", counted(telling.titles, readings))

    answer = run("sessions", *(f"{one}*" for one in LETTERS))

    assert 1 == answer.status
    assert "nothing has title:a*" in answer.err
    assert len(readings) < len(LETTERS)
