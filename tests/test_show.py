"""`searchkit show`: a message inside its conversation."""

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
