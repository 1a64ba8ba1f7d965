"""Questions whose words are all misspelt: what was meant is shown, and said to be so, everywhere."""

from pathlib import Path

import pytest

from searchkit import Engine
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
NOTE = "Nothing holds 'lantren'; showing 'lantern'."


@pytest.fixture
def found(home: Home, run: Run) -> Run:
    """A session about a lantern at a festival."""
    transcript = home.session(SESSION)
    transcript.prompt("where is the lantern for the festival")
    transcript.text("On the roof, behind the chimney.")
    run("index")
    return run


def test_misspelt_word_is_searched_for_as_it_was_meant(found: Run) -> None:
    """The nearest word is looked for, the answer says so before the results, and that is a success."""
    answer, shown = found("search", "lantren", "--json"), found("search", "lantren")

    assert (0, 0) == (answer.status, shown.status)
    assert ("lantren", 1, None) == (answer.json["query"]["text"], answer.json["total"], answer.json["empty_because"])
    assert {"lantren": ["lantern"]} == answer.json["did_you_mean"]
    assert ({"lantren": "lantern"}, [NOTE]) == (answer.json["respelled"], answer.json["notes"])
    assert f"note: {NOTE}\n" == shown.err
    assert "where is the lantern" in shown.out


def test_found_words_are_marked(found: Run) -> None:
    """The marks are around the word that was looked for instead."""
    (result,) = found("search", "lantren", "--json").json["results"]

    ((start, end),) = result["highlights"]
    assert "lantern" == result["snippet"][start:end]


def test_all_words_are_respelled(found: Run) -> None:
    """Each misspelt word is replaced, wherever signs and capitals stand around it."""
    answer = found("search", "Lantren, the festivall?", "--json").json

    assert {"lantren": "lantern", "festivall": "festival"} == answer["respelled"]
    assert 1 == len(answer["results"])


@pytest.mark.parametrize(
    "words", ["xyzzy", "lantren xyzzy", '"lantren"', "-lantern lantren~", "lantren project:nowhere", "lan"]
)
def test_what_is_no_slip_of_the_hand_finds_nothing(found: Run, words: str) -> None:
    """A word like no other, a quotation, and what filters keep away are not replaced."""
    answer = found("search", words, "--json")

    assert (1, [], {}) == (answer.status, answer.json["results"], answer.json["respelled"])


def test_word_beside_one_that_is_found_stays_as_it_is(found: Run) -> None:
    """Where something holds one of the words, the others are only offered."""
    answer = found("search", "festival", "lantren", "--json").json

    assert ({}, ["lantern"]) == (answer["respelled"], answer["did_you_mean"]["lantren"])


def test_pack_says_what_it_is_about(found: Run) -> None:
    """What another agent gets names the word that nothing holds, in Markdown and as a field."""
    asked = ("context", "lantren", "--max-tokens", "500")

    assert NOTE in found(*asked).out
    assert {"lantren": "lantern"} == found(*asked, "--json").json["respelled"]


@pytest.mark.parametrize("words", ["lanterns", "lenticular", "lantana", "chimera"])
def test_word_that_is_another_is_not_replaced(found: Run, words: str) -> None:
    """What differs in more than a letter, or two of a long word, was meant as it was typed; forms find each other."""
    assert {} == found("search", words, "--json", "--mode", "keyword").json["respelled"]


def test_meaning_is_asked_before_another_spelling_is_tried(home: Home, tmp_path: Path) -> None:
    """What is near in meaning is an answer, and another spelling is only offered."""
    talk = home.session(SESSION)
    talk.prompt("which cars and other vehicles do we have")
    talk.text("Three cars.")
    talk.prompt("open the automobila ledger")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index(with_vectors=True)
        by_meaning, by_words = (engine.search("automobile", mode=mode) for mode in ("hybrid", "keyword"))

    assert {"automobile": "automobila"} == by_words.respelled
    assert ({}, {"automobile": ["automobila"]}) == (by_meaning.respelled, by_meaning.suggestions)
    assert "cars" in by_meaning.results[0].best.stored.part.text
