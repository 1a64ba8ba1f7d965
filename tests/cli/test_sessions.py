"""`searchkit sessions`, by words and filters, and what it says when nothing answers to them."""

import time

import pytest

from searchkit.query.types import Condition, Filter
from searchkit.render.search import unknown_values
from tests.support.running import Run
from tests.support.transcript import Home

SLOW = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
OLD = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def listed(home: Home, run: Run) -> Run:
    """Three sessions of two projects; the last is a year older."""
    slow = home.session(SLOW, branch="fix/slow")
    slow.prompt("find the slow query")
    call = slow.call("Edit", {"file_path": "/home/mira/src/shop/auth.py", "old_string": "a", "new_string": "b"})
    slow.result(call, "no such file", is_error=True)
    home.session(OTHER, model="claude-haiku-4-5").text("something else")
    home.session(OLD, cwd="/home/mira/src/ledger").prompt("find the query", timestamp="2025-03-01T10:00:00Z")
    run("index")
    return run


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], [SLOW, OTHER, OLD]),
        (["--project", "shop"], [SLOW, OTHER]),
        (["project:shop"], [SLOW, OTHER]),
        (["--project", "shop", "--project", "ledger"], [SLOW, OTHER, OLD]),
        (["--project", "-shop"], [OLD]),
        (["-project:shop"], [OLD]),
        (["--session", "2222"], [OTHER]),
        (["--branch", "slow"], [SLOW]),
        (["--tool", "edit"], [SLOW]),
        (["--kind", "prompt"], [SLOW, OLD]),
        (["--role", "assistant"], [SLOW, OTHER]),
        (["--model", "haiku"], [OTHER]),
        (["--file", "auth.py"], [SLOW]),
        (["--title", "query"], [SLOW, OLD]),
        (["--is", "error"], [SLOW]),
        (["--after", "2026-01-01"], [SLOW, OTHER]),
        (["--before", "2026-01-01"], [OLD]),
        (["--on", "2025-03"], [OLD]),
        (["query", "-slow"], [OLD]),
        (["find", "query", "--project", "shop"], [SLOW]),
        (["slow", "OR", "query"], [SLOW, OLD]),
        (["--limit", "1", "is:error", "--kind", "prompt"], [SLOW]),
    ],
)
def test_sessions_are_chosen_by_words_and_filters(listed: Run, arguments: list[str], expected: list[str]) -> None:
    """A filter means the same as an option and among the words, which are looked for in titles."""
    answer = listed("sessions", *arguments, "--json")

    assert 0 == answer.status
    assert sorted(expected) == sorted(session["session"] for session in answer.json["sessions"])


def test_session_is_shown_on_two_lines(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it ended and its title, then enough of its id, the project's last part, and how long it lasted."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    transcript = home.session(SLOW, branch="fix/slow")
    transcript.prompt("find the slow query " * 9, timestamp="2026-03-01T10:00:00Z")
    transcript.text("it is the join", timestamp="2026-03-01T16:05:00Z")
    home.session(f"{SLOW[:9]}9\x1b[31m").prompt("another", timestamp="2026-02-01T10:00:00Z")
    run("index")

    try:
        lines = run("sessions").out.splitlines()
    finally:
        monkeypatch.undo()
        time.tzset()

    assert ["2026-03-02 01:05  find the slow query", "2026-02-01 19:00  another"] == [line[:37] for line in lines[::2]]
    assert [
        "  11111111-1 · shop · fix/slow · 1 prompt · 6 h · ~<$0.01",
        "  11111111-9 · shop · main · 1 prompt",
    ] == lines[1::2]
    assert all(len(line) <= 80 for line in lines)


def test_more_than_are_shown_are_counted(listed: Run) -> None:
    """It is said how many sessions --limit kept back, if any."""
    assert "2 more; --limit shows them\n" == listed("sessions", "--limit", "1").err
    assert "" == listed("sessions", "--limit", "3").err


def test_filter_that_makes_no_sense_is_an_error(listed: Run) -> None:
    """An option must be right; the same among the words is a note."""
    option, word = listed("sessions", "--kind", "poem", "--json"), listed("sessions", "kind:poem")

    assert (2, "UsageError") == (option.status, option.json["error"]["kind"])
    assert (1, True) == (word.status, "note: kind:poem was read as words" in word.err)


def test_nearest_values_are_named_when_nothing_answers(listed: Run) -> None:
    """A filter that nothing answers to is told with what could have been meant; one that something does is not."""
    answer = listed("sessions", "--project", "legder", "--tool", "Edits", "--branch", "main", "--model", "gpt")

    assert (1, "") == (answer.status, answer.out)
    assert "nothing has project:legder; the nearest are /home/mira/src/ledger" in answer.err
    assert "nothing has tool:Edits; the nearest are Edit" in answer.err
    assert "nothing has model:gpt; there are claude-haiku-4-5, claude-opus-4-6" in answer.err
    assert "branch" not in answer.err


def test_filter_that_keeps_all_away_is_named(listed: Run) -> None:
    """Where filters hold for some sessions each, but for none together, it is said what each keeps away."""
    answer = listed("sessions", "project:ledger", "-kind:prompt")

    assert (1, "") == (answer.status, answer.out)
    assert [
        "No sessions match.",
        "note: without project:ledger there would be 1 session",
        "note: without -kind:prompt there would be 1 session",
    ] == answer.err.splitlines()


def test_time_without_sessions_is_told_when_there_are_some(listed: Run) -> None:
    """A time in which there was no session is told with those from which there are some."""
    answer = listed("sessions", "before:2001-01-01")

    assert [
        "No sessions match.",
        "note: without before:2001-01-01 there would be 3 sessions",
        "note: sessions are from 2025-03-01 to 2026-03-01",
    ] == answer.err.splitlines()


def test_empty_index_is_told(home: Home, run: Run) -> None:
    """Where nothing is indexed, no filter is to blame."""
    home.project()
    run("index")

    assert "Nothing is indexed yet: run searchkit index.\n" == run("sessions", "project:shop").err


def test_values_that_exclude_are_not_missed() -> None:
    """What is to be left out need not be there."""
    condition = Condition(filters=(Filter(name="tool", values=("Bash",), is_excluded=True),))

    assert [] == list(unknown_values(condition, lambda name: []))


def test_many_values_are_named_only_where_they_are_near() -> None:
    """Of titles and paths the most frequent say nothing, and none commands the terminal."""
    condition = Condition(filters=(Filter(name="title", values=("weathers", "xylophone")),))

    lines = list(unknown_values(condition, lambda name: ["\x1bWeather", "The beach"]))

    assert ["nothing has title:weathers; the nearest are Weather", "nothing has title:xylophone"] == lines
