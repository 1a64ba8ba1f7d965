"""After the transcripts were deleted everything reads as before, but for the word that they are gone."""

import shutil

import pytest

from tests.support.running import Run
from tests.support.transcript import Home, tool_id

SESSION = "11111111-1111-4111-8111-111111111111"

# What each command is asked, and what it says more once the transcript is gone.
COMMANDS = {
    "search": ("search", "cookie"),
    "show": ("show", "1", "--agents"),
    "outline": ("show", SESSION),
    "tree": ("tree", SESSION),
    "context": ("context", "cookie", "--max-tokens", "2000"),
}


@pytest.fixture
def talk(home: Home) -> Home:
    """A session with a rewind, a compaction and an agent."""
    session = home.session(SESSION)
    session.prompt("why does the login fail")
    start = session.text("let me look")
    session.prompt("guess")
    session.text("it may be the clock")
    session.prompt("look properly", parent=start["uuid"])
    call = session.call("Task", {"prompt": "find who reads the cookie", "description": "Readers"})
    agent = home.agent(SESSION, "reader")
    agent.prompt("find who reads the cookie", parent=None)
    agent.text("the middleware reads the cookie by its old name")
    home.meta(SESSION, "reader", agentType="Explore", description="Readers", toolUseId=tool_id(call))
    session.result(call, "the middleware", toolUseResult={"agentId": "reader"})
    session.text("The cookie was renamed, and the middleware reads the old name.")
    session.compact("The cookie was renamed.")
    session.text("It is mended.")
    return home


@pytest.mark.parametrize("name", COMMANDS)
def test_deleted_transcripts_read_as_before(talk: Home, run: Run, name: str) -> None:
    """The words are the same; somewhere among them it is said that the transcript is gone."""
    run("index")
    run("search", "cookie")
    before = run(*COMMANDS[name])

    shutil.rmtree(talk.root / "projects")
    (talk.root / "projects").mkdir()
    run("index")
    after = run(*COMMANDS[name])

    assert (0, 0) == (before.status, after.status)
    assert "gone" not in before.out
    assert "gone" in after.out
    assert _words(before.out) == _words(after.out.replace(" · transcript gone", "").replace("transcript gone", ""))


def _words(text: str) -> list[str]:
    """Take a text apart; a budget of tokens may be a few larger for what is said of the transcript."""
    return [word for word in text.split() if not word.isdecimal()]
