"""Ids as long as a book: they are shortened where they are read, and mean the same everywhere."""

import pytest

from tests.support.running import Run
from tests.support.transcript import Home, Transcript

LONG = "x" * 100_000


@pytest.fixture
def found(home: Home, run: Run) -> Run:
    """A session all of whose ids are long: its own, and those of its messages."""
    transcript = Transcript(home.project() / "hostile.jsonl", f"session-{LONG}")
    transcript.prompt("where is the lantern", uuid=f"asked-{LONG}")
    call = transcript.call("Bash", {"command": "ls roof"}, uuid=f"called-{LONG}")
    transcript.result(call, "lantern chimney", uuid=f"printed-{LONG}")
    transcript.text("On the roof.", uuid=f"said-{LONG}")
    home.history("and the ladder", session=f"session-{LONG}")
    run("index")
    return run


@pytest.mark.parametrize("command", [("search", "lantern"), ("sessions",), ("context", "lantern"), ("show", "1")])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_answers_stay_short(found: Run, command: tuple[str, ...], form: tuple[str, ...]) -> None:
    """No answer holds an id as it stood in the transcript, for people or for programs."""
    found("search", "lantern")

    answer = found(*command, *form)

    assert (0, False) == (answer.status, "x" * 300 in answer.out + answer.err)


def test_conversation_hangs_together(found: Run) -> None:
    """What a result's id leads to is the message in its turn, the call with its result."""
    (result,) = found("search", "chimney", "--json").json["results"]

    shown = found("show", result["uuid"], "--full", "--json").json
    texts = str(shown)

    assert all(said in texts for said in ("where is the lantern", "ls roof", "lantern chimney", "On the roof."))


def test_session_is_found_by_its_short_id(found: Run) -> None:
    """All files that name the session mean the same one, and its id finds it again."""
    # The other one is named by the file, and holds nothing.
    session, _ = found("sessions", "--json").json["sessions"]
    id = session["session"]

    (typed,) = found("search", "ladder", "--session", id, "--json").json["results"]
    kinds = {result["kind"] for result in found("search", "--session", id, "--group", "none", "--json").json["results"]}

    assert ("history", "prompt" in kinds) == (typed["kind"], True)
