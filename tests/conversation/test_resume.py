"""`searchkit resume`, and the numbers of the last search's results."""

import os
import shlex
import stat
from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.local.layout import LAST_SEARCH
from searchkit.cli.session_argument import recall, remember
from searchkit.errors import UsageError
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "11122222-2222-4222-8222-222222222222"


@pytest.fixture
def project(home: Home, run: Run, tmp_path: Path) -> Path:
    """Two sessions whose ids begin alike, in a directory with a quote and a blank in its name."""
    directory = tmp_path / "mira's shop"
    directory.mkdir()
    for session in (SESSION, OTHER):
        home.session(session, cwd=str(directory)).prompt(f"find the slow query of {session}")
    run("index")
    return directory


@pytest.mark.parametrize("command", ["resume", "show", "tree"])
@pytest.mark.parametrize("asked", ["", " "])
def test_empty_id_means_nothing(run: Run, project: Path, command: str, asked: str) -> None:
    """Everything begins with it, but a list of everything is no answer."""
    answer = run(command, asked)

    assert (2, "") == (answer.status, answer.out)
    assert "no id was given" in answer.err


def test_messages_that_could_be_meant_are_listed(home: Home, run: Run) -> None:
    """A beginning that several messages share was said to be that of no session."""
    session = home.session(SESSION)
    several = [
        session.prompt(f"number {number}", uuid=f"abcdef0{number}-1111-4111-8111-111111111111") for number in "12"
    ]
    run("index")

    answer = run("resume", "abcdef")

    assert 2 == answer.status
    assert "several messages have an id that begins with 'abcdef'" in answer.err
    assert all(one["uuid"] in answer.err for one in several)


@pytest.mark.parametrize("asked", [SESSION, "11111", "1111111", OTHER[:4]])
def test_session_is_found_by_its_id_or_a_beginning(run: Run, project: Path, asked: str) -> None:
    """The command changes into the project and reopens the one session that is meant."""
    answer = run("resume", asked)

    wanted = OTHER if asked == OTHER[:4] else SESSION
    assert 0 == answer.status
    assert ["cd", str(project), "&&", "claude", "--resume", wanted] == shlex.split(answer.out)


def test_json_names_its_fields(run: Run, project: Path) -> None:
    """A program gets the command and what stands in its way."""
    answer = run("resume", SESSION, "--json").json

    assert {"session", "title", "project", "resume", "has_directory", "is_gone"} < set(answer)
    assert {"is_interrupted", "forked_from", "worktree"} < set(answer)
    assert (SESSION, str(project), True, False) == (
        answer["session"],
        answer["project"],
        answer["has_directory"],
        answer["is_gone"],
    )


@pytest.mark.parametrize("asked", ["9999f", "1111f", "111", "11-", ""])
def test_id_that_means_none_is_an_error(run: Run, project: Path, asked: str) -> None:
    """What means no session is told so, with status 2."""
    answer = run("resume", asked, "--json")

    assert (2, "UsageError") == (answer.status, answer.json["error"]["kind"])


def test_id_that_means_several_lists_them(home: Home, run: Run) -> None:
    """The sessions that could be meant are named."""
    sessions = ["abc11111-1111-4111-8111-111111111111", "abc22222-1111-4111-8111-111111111111"]
    for session in sessions:
        home.session(session).prompt("find the slow query")
    run("index")

    answer = run("resume", "ABC")

    assert (2, "") == (answer.status, answer.out)
    assert all(session in answer.err for session in sessions)


def test_what_stands_in_the_way_is_said(home: Home, run: Run, project: Path) -> None:
    """A transcript or a directory that is gone is told on stderr, and the command is printed all the same."""
    (home.project(str(project)) / f"{SESSION}.jsonl").unlink()
    project.rmdir()
    run("index")

    answer = run("resume", SESSION)

    assert (0, True) == (answer.status, answer.out.endswith(f"claude --resume {SESSION}\n"))
    assert "no longer on disk" in answer.err
    assert "does not exist" in answer.err
    assert 2 == run("resume", SESSION, "--run").status


def test_run_becomes_claude_in_the_directory(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--run leaves nothing of searchkit behind; that Claude Code is missing is told."""
    asked: list[object] = []

    def become(program: str, words: list[str]) -> None:
        asked.extend([program, words, Path.cwd()])
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "execvp", become)
    monkeypatch.chdir(project.parent)
    answer = run("resume", SESSION, "--run")

    assert ["claude", ["claude", "--resume", SESSION], project] == asked
    assert (2, True) == (answer.status, "cannot run claude" in answer.err)


def test_results_are_meant_by_their_numbers(run: Run, project: Path, tmp_path: Path) -> None:
    """The last search is remembered for its owner only."""
    with Engine(tmp_path / "index") as engine:
        found = engine.search(OTHER[:8] + " slow query")
    remember(tmp_path / "index", found.results)

    assert OTHER == run("resume", "1", "--json").json["session"]
    assert found.results[1].best.stored.part.uuid == recall(tmp_path / "index", 2).uuid
    assert 0o600 == stat.S_IMODE((tmp_path / "index" / LAST_SEARCH).stat().st_mode)
    assert (2, True) == ((answer := run("resume", "7")).status, "no result 7: it found 2" in answer.err)


def test_remembering_fails_in_silence_and_recalling_does_not(tmp_path: Path) -> None:
    """A search is no less a search where nothing can be written; what cannot be read is told."""
    remember(tmp_path / "missing", [])
    with pytest.raises(UsageError, match="no search yet"):
        recall(tmp_path, 1)
    (tmp_path / LAST_SEARCH).write_text("[{]")

    with pytest.raises(UsageError, match="cannot read"):
        recall(tmp_path, 1)


@pytest.mark.parametrize(
    "hostile",
    [
        "--dangerously-skip-permissions",
        "-c",
        "$(touch x);",
        "`touch x`",
        "a b",
        "../x",
        "~",
        "a\nb",
        "abc\x1b]52;c;eA==\x07",
        "abc\u200bd",
        "abc\U000e0041",
    ],
)
def test_id_that_is_none_is_refused(home: Home, run: Run, hostile: str) -> None:
    """Issue 15: an id of a transcript became an option of Claude Code; whatever is no plain id now makes no command."""
    transcript = home.session(SESSION)
    transcript.session = hostile
    transcript.path.rename(transcript.path.with_name("named otherwise.jsonl"))
    transcript.path = transcript.path.with_name("named otherwise.jsonl")
    said = transcript.prompt("find the slow lantern")
    run("index")

    answers = [run("resume", said["uuid"], *options) for options in ((), ("--json",), ("--run",))]
    found = [one for one in run("search", "lantern", "--json").json["results"] if one["session"] == hostile]

    assert [2, 2, 2] == [answer.status for answer in answers]
    assert all("is none that Claude Code gives" in answer.err for answer in answers)
    assert "" == answers[0].out
    assert [None] == [one["resume"] for one in found]


@pytest.mark.parametrize(
    "hostile", ["/tmp/\x1b]0;y\x07x", "/tmp/a\u202eb", "/tmp/a\u200bb", "/tmp/a\x9bb", "/a\rb", "/a\nb", "/a\tb"]
)
def test_directory_that_cannot_be_typed_makes_no_command(home: Home, run: Run, hostile: str) -> None:
    """Issue 15: what is pasted reaches the terminal before any shell, quotes or not."""
    home.session(SESSION, cwd=hostile).prompt("hello")
    run("index")

    answer = run("resume", SESSION)

    assert (2, "") == (answer.status, answer.out)
    assert "has hidden characters in its name" in answer.err
    assert run("show", SESSION, "--json").json["resume"] is None


def test_hostile_directory_stays_a_word_of_the_shell(home: Home, run: Run) -> None:
    """Issue 15: it is neither a command nor an option, in bash, zsh or fish."""
    names = ["-P", "=ls", "/tmp/`touch y`", "/tmp/\\';touch y;'", "~root", "/tmp/$(touch y)", "/tmp/a!b"]
    for number, name in enumerate(names):
        home.session(f"0000000{number}-1111-4111-8111-111111111111", cwd=name).prompt("hello")
    run("index")

    shown = [run("resume", f"0000000{number}").out for number in range(len(names))]

    assert ["./-P", *names[1:]] == [shlex.split(line)[1] for line in shown]
    assert "cd '=ls' && claude" in shown[1]
    assert "cd /tmp/" not in shown[3]


def test_message_means_its_session(home: Home, run: Run) -> None:
    """Whoever has the id of a message need not look for that of its session."""
    said = home.session(SESSION).prompt("find the slow query")
    run("index")

    assert SESSION == run("resume", said["uuid"], "--json").json["session"]


@pytest.mark.parametrize("typed", ["<command-name>/exit</command-name>", "<bash-input>ls</bash-input>"])
def test_session_that_ends_with_a_command_is_complete(home: Home, run: Run, typed: str) -> None:
    """What Claude Code printed by itself waits for no answer; after /exit every session was said to be interrupted."""
    tag = "bash-stdout" if "bash" in typed else "local-command-stdout"
    session = home.session(SESSION)
    session.prompt("find the slow query")
    session.text("found it")
    session.prompt(typed)
    session.prompt(f"<{tag}>Bye!</{tag}>")
    run("index")

    assert run("resume", SESSION, "--json").json["is_interrupted"] is False


def test_answer_of_an_agent_is_not_that_of_the_session(home: Home, run: Run) -> None:
    """In old transcripts agents have the last word in the file, while their call still waits."""
    session = home.session(SESSION)
    session.prompt("find the slow query")
    session.call("Task", {"prompt": "look"})
    session.prompt("look", parent=None, isSidechain=True)
    session.text("nothing there", isSidechain=True)
    run("index")

    assert run("resume", SESSION, "--json").json["is_interrupted"] is True


def test_interrupted_session_is_said_to_be(home: Home, run: Run) -> None:
    """A prompt or a result that nothing answers is the last word of a session that was left in the middle."""
    waiting, answered = home.session(SESSION), home.session(OTHER)
    for transcript in (waiting, answered):
        transcript.prompt("find the slow query")
        transcript.result(transcript.call("Bash", {"command": "make"}), "made")
    answered.text("it is the one in the cart")
    answered.system("turn_duration", durationMs=1)
    run("index")

    told = [run("resume", session) for session in (SESSION, OTHER)]

    assert [True, False] == ["still waits for an answer" in answer.err for answer in told]
    assert [True, False] == [run("resume", one, "--json").json["is_interrupted"] for one in (SESSION, OTHER)]


def test_fork_and_worktree_are_told(home: Home, run: Run) -> None:
    """A fork is reopened by its own id, in the directory that its transcript belongs to."""
    fork = home.session(SESSION)
    fork.prompt("find the slow query", forkedFrom={"sessionId": OTHER, "messageUuid": "x"})
    state = {"worktreePath": "/home/mira/src/shop/.worktrees/slow", "worktreeName": "slow"}
    fork.line({"type": "worktree-state", "worktreeSession": state, "sessionId": SESSION})
    run("index")

    answer = run("resume", SESSION, "--json").json

    assert (OTHER, "/home/mira/src/shop/.worktrees/slow") == (answer["forked_from"], answer["worktree"])
    assert f"cd /home/mira/src/shop && claude --resume {SESSION}" == answer["resume"]
