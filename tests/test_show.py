"""`searchkit show`: a message inside its conversation."""

import time

import pytest

from tests.running import Run
from tests.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def uuid(home: Home, run: Run) -> str:
    """An indexed conversation of five messages, and the uuid of the one in the middle."""
    transcript = home.session(SESSION)
    transcript.prompt("why is the list slow")
    transcript.text("let me look")
    middle = transcript.prompt("and the giraffe?")
    transcript.text("\n".join(f"line {number}" for number in range(100)))
    transcript.prompt("thank you\x1b[31m")
    run("index")
    return str(middle["uuid"])


def test_message_is_shown_with_what_is_around_it(run: Run, uuid: str) -> None:
    """So many turns before and after, the message itself marked, long texts cut in the middle and said so."""
    answer = run("show", uuid, "--before", "1", "--after", "2")

    assert 0 == answer.status
    assert "why is the list slow" not in answer.out.split("\n", 2)[2]
    assert "> you" in answer.out
    assert "let me look" in answer.out
    assert "... 94 lines more (--full) ..." in answer.out
    assert "thank you" in answer.out
    assert "\x1b" not in answer.out


def test_message_is_meant_by_its_id_a_beginning_or_a_number(run: Run, uuid: str) -> None:
    """The id of a part will do, and the number of a result of the last search."""
    run("search", "giraffe")

    shown = [run("show", name, "--json").json["thread"] for name in (uuid, f"{uuid}#0", uuid[:13], "1")]

    assert [uuid] * 4 == [next(turn["uuid"] for turn in thread if turn["hit"]) for thread in shown]


def test_full_shows_long_texts_whole(run: Run, uuid: str) -> None:
    """Nothing is cut with --full."""
    assert "line 50" in run("show", uuid, "--full").out


def test_unknown_or_ambiguous_id_is_told(run: Run, uuid: str) -> None:
    """Status 2, and what to do."""
    assert (2, True) == ((answer := run("show", "zzz")).status, "no message has an id" in answer.err)
    assert (2, True) == ((answer := run("show", "")).status, "no message has an id" in answer.err)


def test_date_is_told_once_a_day(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn has the time of day, in the user's zone, and the date only where another day begins."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    transcript = home.session(SESSION)
    for hour in ("2026-03-01T15:00", "2026-03-02T02:30", "2026-03-02T15:45"):
        last = transcript.prompt(f"it is {hour}", timestamp=f"{hour}:00Z")
    run("index")

    try:
        shown = run("show", str(last["uuid"])).out.splitlines()
    finally:
        monkeypatch.undo()
        time.tzset()

    heads = [line.partition(",")[0] for line in shown if "you" in line]
    assert ["  you  2026-03-01 10:00", "  you  21:30", "> you  2026-03-02 10:45"] == heads


def test_few_lines_are_not_left_out(home: Home, run: Run) -> None:
    """A text that is hardly too long is shown whole."""
    transcript = home.session(SESSION)
    transcript.text("\n".join(f"short {number}" for number in range(9)))
    transcript.text("\n".join(f"long {number}" for number in range(10)))
    last = transcript.prompt("and the giraffe?")
    run("index")

    shown = run("show", str(last["uuid"])).out

    assert (9, 6) == (shown.count("short "), shown.count("long "))
    assert "... 4 lines more (--full) ..." in shown


def test_message_that_says_nothing(home: Home, run: Run) -> None:
    """A record without any text is told as such, with status 1."""
    transcript = home.session(SESSION)
    transcript.prompt("why is the list slow")
    silent = transcript.thinking("")
    run("index")

    plain, as_json = run("show", str(silent["uuid"])), run("show", str(silent["uuid"]), "--json")

    assert (1, "", True) == (plain.status, plain.out, "says nothing" in plain.err)
    assert (1, []) == (as_json.status, as_json.json["thread"])


def test_session_or_title_is_shown_from_its_beginning(home: Home, run: Run, uuid: str) -> None:
    """The id of a session means the first thing that was said in it, and so does the number of a title."""
    home.session(SESSION).line({"type": "custom-title", "customTitle": "zebra crossing", "sessionId": SESSION})
    run("index")
    run("search", "zebra", "--group", "none")

    shown = [run("show", name, "--json").json["thread"] for name in (SESSION, "1")]

    assert ["why is the list slow"] * 2 == [thread[0]["text"] for thread in shown]
