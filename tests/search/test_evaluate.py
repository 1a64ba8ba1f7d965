"""How well labelled questions are answered: the figures, the command, and what it says of lines that make no sense."""

import json
from pathlib import Path

import msgspec
import pytest

from searchkit.search.evaluate import Answered, Labelled, measure, rows
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"


def test_measures_are_those_of_the_literature() -> None:
    """One of two right ones in the second place: not first, half of them, and so much of the best order possible."""
    measures = measure(["a", "b", "b", "c"], {"b", "z"}, 10)

    gain = 100 * (1 / 1.5849625) / (1 + 1 / 1.5849625)
    assert (0.0, 100.0, 100.0, 50.0, 50.0, pytest.approx(gain)) == msgspec.structs.astuple(measures)


def test_what_comes_too_late_is_not_found() -> None:
    """Repeats of a message take no place, and what comes after the depth does not count."""
    assert 0.0 == measure(["a", "b", "c", "d", "e", "right"], {"right"}, 5).hit
    assert 100.0 == measure(["a", "a", "b", "b", "c", "right"], {"right"}, 5).hit


def test_figures_are_told_by_type_and_language() -> None:
    """A question counts for its type, for its language, and for all; all come last."""
    found = rows(
        [
            Answered(question=labelled(type="cause", lang="fr"), messages=["right"], sessions=["s"]),
            Answered(question=labelled(type="cause"), messages=["wrong"], sessions=["s"]),
        ],
        10,
    )

    assert [("cause", 2, 50.0), ("fr", 1, 100.0), ("ALL", 2, 50.0)] == [
        (row.name, row.questions, row.message.hit) for row in found
    ]
    assert 100.0 == found[-1].session.hit


@pytest.fixture
def questions(home: Home, run: Run, tmp_path: Path) -> Path:
    """Two questions, of which one has its answer in the index."""
    first, second = home.session(SESSION), home.session(OTHER)
    right = first.prompt("the certificate has expired")["uuid"]
    second.prompt("paint the door blue")
    run("index")
    lines = [
        {"query": "expired certificate", "gold": [right], "type": "cause"},
        {"query": "what colour", "gold": ["33333333-3333-4333-8333-333333333333"], "type": "colour", "more": 1},
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_own_questions_are_measured(questions: Path, run: Run) -> None:
    """Sessions are those of the messages where a line names none, and a message that is not there is told."""
    answer = run("eval", str(questions), "--json")

    types = answer.json["types"]
    assert 0 == answer.status
    assert 100.0 == types["cause"]["message"]["hit@10"] == types["cause"]["session"]["mrr"]
    assert 50.0 == types["ALL"]["message"]["hit@1"]
    assert "1 message of 2 that should be found are not in the index" in answer.err


def test_figures_are_shown_as_a_table(questions: Path, run: Run) -> None:
    """A line for each type and one for all, with the depth that was asked for."""
    head, *lines = run("eval", str(questions), "--k", "20", "--mode", "keyword").out.splitlines()

    assert "h@20" in head
    assert ["cause", "colour", "ALL"] == [line.split()[0] for line in lines]


def test_nothing_right_is_nothing_found(questions: Path, run: Run) -> None:
    """The status says so."""
    questions.write_text('{"query": "paint", "gold": ["nowhere"]}', encoding="utf-8")

    assert 1 == run("eval", str(questions)).status


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "queries.jsonl:2 is not JSON"),
        ("[]", "queries.jsonl:2: Expected `object`"),
        ('{"query": "a"}', "queries.jsonl:2: Object missing required field `gold`"),
        ('{"query": 1, "gold": ["a"]}', "queries.jsonl:2: Expected `str`, got `int` - at `$.query`"),
        ('{"query": "a", "gold": []}', "queries.jsonl:2: gold names no message"),
        ('{"query": " ", "gold": ["a"]}', "queries.jsonl:2: the query is empty"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, run: Run, line: str, complaint: str) -> None:
    """What is wrong is said with its file and line, and how a line looks."""
    path = tmp_path / "queries.jsonl"
    path.write_text('{"query": "a", "gold": ["b"]}\n' + line, encoding="utf-8")

    answer = run("eval", str(path))

    assert 2 == answer.status
    assert complaint in answer.err
    assert '"gold": [ids of messages]' in answer.err


@pytest.mark.parametrize("content", [None, "\n"])
def test_file_without_questions_is_an_error(tmp_path: Path, run: Run, content: str | None) -> None:
    """One that is not there, and one that is empty."""
    path = tmp_path / "queries.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    assert 2 == run("eval", str(path), "--json").status


def labelled(type: str, lang: str | None = None) -> Labelled:
    """Make a question that one message answers."""
    return Labelled(query="why", gold=("right",), sessions=("s",), type=type, lang=lang)
