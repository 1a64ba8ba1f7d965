"""Whatever is typed is answered, and whatever a transcript holds reaches no terminal as more than text."""

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from itertools import islice
from pathlib import Path

import pytest

from searchkit import Engine
from tests.support.answers import OTHER, SESSION
from tests.support.hostile import questions
from tests.support.probe import searched
from tests.support.running import Run
from tests.support.transcript import Home

QUESTIONS = 1_000
PIECES = 20
PROMPT = "abcd0000-1111-4111-8111-111111111111"
FORMS = ((), ("--json",), ("--markdown",), ("--html",))
EVIL = "\x1b[31m\x1b]0;x\x07\x9b2J\u202e\u2066\u200f\u061c\u2028\r\x08\x00evil\u202c\u2069"


def evil(name: str) -> str:
    """Return a name with everything around it that could command a terminal."""
    return f"{EVIL} {name}{EVIL}"


@pytest.fixture(scope="module")
def lanterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of transcripts all of whose names and texts are hostile."""
    directory = tmp_path_factory.mktemp("hostile")
    with searched(directory, _write):
        return directory / "index"


@pytest.fixture
def ready(lanterns: Path, tmp_path: Path, run: Run) -> Run:
    """Give a function that runs a command on a copy of that index."""
    shutil.copytree(lanterns, tmp_path / "index")
    return run


def _write(home: Home) -> None:
    transcript = home.session(SESSION, branch=evil("branch"), cwd=f"/src/{evil('project')}", model=evil("model"))
    for kind, field in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
        transcript.line({"type": kind, field: evil("lantern title"), "sessionId": SESSION})
    transcript.prompt(evil("lantern prompt"), uuid=PROMPT)
    transcript.text(evil("the lantern said aaaa word1 to be"))
    call = transcript.call(evil("Tool"), {evil("key"): evil("lantern value"), "file_path": evil("/src/lantern.py")})
    transcript.result(call, evil("lantern result") * 20, is_error=True)
    transcript.call("Edit", {"file_path": evil("/src/lantern.py")})
    transcript.raw(b'b80","timestamp":1}\n')
    agent = home.agent(SESSION, "abc1234")
    agent.text(evil("lantern of an agent"), agentId=evil("agent"))
    home.meta(SESSION, "abc1234", agentType=evil("Explore"), description=evil("lantern described"))
    home.session(OTHER).prompt("a lantern elsewhere 中文 error")


def _is_harmless(text: str) -> bool:
    """Say whether a text holds no control character, nothing that turns the writing, and no half of a character."""
    kinds = {character: unicodedata.category(character) for character in set(text) - {"\n", "\t"}}
    turning = {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
    return not any(
        kind in ("Cc", "Cs") or unicodedata.bidirectional(character) in turning or character in "\u200e\u200f\u061c"
        for character, kind in kinds.items()
    )


def _ask(run: Run, text: str, is_json: bool) -> None:
    answer = run("search", *(["--json"] if is_json else []), "--", text)

    assert answer.status in (0, 1), (text[:200], answer.err)
    assert "Traceback" not in answer.err
    if is_json:
        assert (answer.status == 0) == bool(json.loads(answer.out)["results"])
    else:
        assert _is_harmless(answer.out), text[:200]
        assert (answer.status == 0) == bool(answer.out)
    assert _is_harmless(answer.err), text[:200]


@pytest.mark.parametrize("piece", range(PIECES))
def test_hostile_question_is_answered(ready: Run, piece: int) -> None:
    """A thousand hostile questions, by turns for people and for programs: found or not found, never an error."""
    for number, text in islice(enumerate(questions(QUESTIONS)), piece, None, PIECES):
        _ask(ready, text, is_json=bool(number // PIECES % 2))


@pytest.mark.slow
@pytest.mark.parametrize("piece", range(PIECES))
def test_hostile_question_is_answered_either_way(ready: Run, piece: int) -> None:
    """The same, for programs where it was for people, and twice as many others for both."""
    for number, text in islice(enumerate(questions(QUESTIONS)), piece, None, PIECES):
        _ask(ready, text, is_json=not number // PIECES % 2)
    for text in islice(questions(QUESTIONS * 2, seed=2), QUESTIONS + piece, None, PIECES):
        _ask(ready, text, is_json=False)
        _ask(ready, text, is_json=True)


def test_there_are_a_thousand() -> None:
    """The questions are as many as promised, different, and the same every time."""
    asked = list(questions(QUESTIONS))

    assert QUESTIONS == len(asked)
    assert len(set(asked)) > 0.95 * QUESTIONS
    assert asked == list(questions(QUESTIONS))


@pytest.mark.parametrize(
    "command",
    [
        ["search", "lantern"],
        ["search", "lantern", "--group", "none", "--explain", "--limit", "50", "--thread", "5"],
        ["search", "lantern", "--facets", "project,session,title,branch,model,tool,kind,role,agent,is,month"],
        ["search", "lantern", "project:elsewhere", "branch:nowhere", "tool:nothing", "agent:nobody", "title:nix"],
        ["search", evil("xylophone"), f"project:{evil('x')}"],
        ["search", evil("lentern")],
        ["search", f"kind:{evil('poem')}"],
        ["search", "lantern", "--kind", evil("poem")],
        ["search", "lantern", "--facets", evil("weather")],
        ["sessions"],
        ["sessions", "project:elsewhere", "branch:nowhere"],
        ["stats"],
        ["stats", "--by", "project"],
        ["stats", "--by", "tool"],
        ["stats", "--by", "model"],
        ["doctor", "--full"],
        ["status"],
        ["resume", SESSION],
        *(["show", SESSION, *form] for form in FORMS),
        *(["show", PROMPT, "--full", "--agents", *form] for form in FORMS),
        ["show", evil("lantern nowhere")],
        ["show", evil("lantern title")],
        ["tree", SESSION],
        ["tree", SESSION, "--json"],
        ["tree", evil("nowhere")],
    ],
    ids=lambda command: " ".join(command).replace(EVIL, "%").replace("\0", ""),
)
def test_transcript_cannot_command_the_terminal(ready: Run, command: list[str]) -> None:
    """No name or text of a transcript, and nothing that was typed, reaches a terminal with more than text."""
    answer = ready(*command)

    assert _is_harmless(answer.out)
    assert _is_harmless(answer.err)
    assert "Traceback" not in answer.err


def test_logged_name_cannot_command_the_terminal(home: Home, tmp_path: Path) -> None:
    """Issue 15: what is logged names files and directories, whose names may be anything."""
    index = tmp_path / "in\x1b]52;c;eA==\x07\u202e\u200bdex"
    home.session(SESSION).prompt("where is the lantern?")
    with Engine(index, [home.root]) as engine:
        engine.index(with_vectors=False)
    index.chmod(0o755)

    done = subprocess.run(
        [sys.executable, "-m", "searchkit", "search", "lantern", "--index", str(index)],
        env={**os.environ, "HOME": str(tmp_path), "SEARCHKIT_NO_VECTORS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "was open to other users" in done.stderr
    assert not any(sign in done.stderr for sign in "\x1b\x07\u202e\u200b")
