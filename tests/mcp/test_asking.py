"""Which session asks, found by the call that it makes: after /clear and /branch, in parallel, late, and with liars."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from searchkit import Engine
from searchkit.client import connect
from searchkit.mcp.caller import BECAUSE_NAMED, BECAUSE_OPEN, BECAUSE_OPENED
from searchkit.sources.claude import caller
from tests.mcp.history import SHOP
from tests.support.transcript import Home, Record, Transcript, tool_id

FORMER = "aaaaaaaa-0000-4000-8000-000000000001"
CLEARED = "aaaaaaaa-0000-4000-8000-000000000002"
BRANCH = "aaaaaaaa-0000-4000-8000-000000000003"
LIAR = "aaaaaaaa-0000-4000-8000-000000000004"
WORDS = {FORMER: "the former lantern", CLEARED: "the cleared lantern", LIAR: "the lying lantern"}
LATE_SECONDS = 0.1
QUESTION = {"query": "lantern", "mode": "keyword"}
TOOLS: list[tuple[str, Record]] = [
    ("search", QUESTION),
    ("context", {"query": "lantern"}),
    ("sessions", {}),
    ("files", {"path": "lantern.py"}),
    ("fixes", {"error": "the lantern is out"}),
]


class Client:
    """Claude Code's end of a server, which was started in the former session."""

    def __init__(self, index: Path, place: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "SEARCHKIT"))}
        own = {"CLAUDE_CODE_SESSION_ID": FORMER, "SEARCHKIT_IDLE_SECONDS": "20", "SEARCHKIT_NO_VECTORS": "1"}
        self._number = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "searchkit.__main__", "mcp", "--index", str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, **own},
            cwd=place,
        )

    def ask(self, call: str | None, tool: str = "search", given: Record | None = None) -> Record:
        """Make a call and return the structure of the answer."""
        self._number += 1
        params: Record = {"name": tool, "arguments": QUESTION if given is None else given}
        if call is not None:
            params["_meta"] = {"claudecode/toolUseId": call, "progressToken": self._number}
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert not answer["result"]["isError"], answer
        found: Record = answer["result"]["structuredContent"]
        return found


class Place:
    """A home with sessions of one project, which tests may add to, and its index."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory / "claude", cwd=SHOP)
        self.index = directory / "index"
        self.open = {session: self.home.session(session) for session in WORDS}
        for session, words in WORDS.items():
            self.open[session].prompt(words)
        copied = [json.loads(line) for line in self.open[FORMER].path.read_bytes().splitlines()]
        self.open[BRANCH] = self.home.session(BRANCH)
        for one in copied:
            origin = {"sessionId": FORMER, "messageUuid": one["uuid"]}
            self.open[BRANCH].line({**one, "sessionId": BRANCH, "forkedFrom": origin})
        self.open[BRANCH].prompt("the branched lantern")
        self.open[FORMER].prompt("the lantern went on without the branch")
        with Engine(self.index, [self.home.root]) as engine:
            engine.index()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The home; the process that serves its index is gone at the end."""
    made = Place(tmp_path_factory.mktemp("asking"))
    yield made
    try:
        _, body = connect.ask(str(made.index), "GET", "/v1/health")
        os.kill(json.loads(body)["pid"], signal.SIGKILL)
    except (connect.NobodyThere, connect.NoAnswer):
        pass


@pytest.fixture(scope="module")
def claude(place: Place) -> Iterator[Client]:
    """A client that was started in the former session, and whose environment says so for ever."""
    made = Client(place.index, place.home.root)
    yield made
    made.process.kill()
    made.process.communicate()


def call(transcript: Transcript, **extra: Any) -> str:
    """Write down a call of our tool and return its id."""
    return tool_id(transcript.call("mcp__searchkit__search", {"query": "lantern"}, **extra))


def left(answer: Record) -> list[tuple[str, str]]:
    """Return which sessions an answer left out, and why."""
    return [(one["session"], one["because"]) for one in answer.get("left_out", [])]


def found(answer: Record) -> set[str]:
    """Return the sessions that an answer found."""
    return {one["session"] for one in answer.get("results", [])}


@pytest.mark.parametrize(("tool", "given"), TOOLS)
def test_cleared_session_finds_the_one_before(claude: Client, place: Place, tool: str, given: Record) -> None:
    """Issue 16: after /clear the environment names the session before, which was left out; every tool leaves out."""
    answer = claude.ask(call(place.open[CLEARED]), tool, given)

    assert [(CLEARED, BECAUSE_NAMED)] == left(answer)
    if tool == "search":
        assert FORMER in found(answer)
        assert CLEARED not in found(answer)
    if tool == "sessions":
        listed = {one["session"] for one in answer["sessions"]}
        assert {FORMER, BRANCH, LIAR} <= listed
        assert CLEARED not in listed
        assert len(listed) == answer["total"]


def test_branch_finds_what_the_original_said_since(claude: Client, place: Place) -> None:
    """Issue 16: what was copied into a branch is its own, and what its original said later is found."""
    made = call(place.open[BRANCH])

    answer = claude.ask(made)
    copied = claude.ask(made, given={"query": '"the former lantern"', "mode": "keyword"})
    listed = claude.ask(made, "sessions", {})

    assert [(BRANCH, BECAUSE_NAMED)] == left(answer)
    texts = [one["text"] for one in answer["results"] if one["session"] == FORMER]
    assert ["the lantern went on without the branch"] == texts
    assert "left_out" == copied["empty_because"]
    assert FORMER in {one["session"] for one in listed["sessions"]}


def test_original_finds_what_its_branch_said(claude: Client, place: Place) -> None:
    """A call that was copied into a branch while it waits is still one of the original's."""
    record = place.open[FORMER].call("mcp__searchkit__search")
    copy = {"sessionId": BRANCH, "forkedFrom": {"sessionId": FORMER, "messageUuid": record["uuid"]}}
    place.open[BRANCH].line({**record, **copy})

    answer = claude.ask(tool_id(record))

    assert [(FORMER, BECAUSE_NAMED)] == left(answer)
    assert BRANCH in found(answer)


def test_parallel_sessions_find_each_other(claude: Client, place: Place) -> None:
    """Sessions of one project that are written to at the same time are told apart by their calls."""
    calls = {session: call(place.open[session]) for session in (FORMER, CLEARED)}

    answers = {session: claude.ask(made) for session, made in calls.items()}

    assert {one: [(one, BECAUSE_NAMED)] for one in calls} == {one: left(answer) for one, answer in answers.items()}
    assert (True, True) == (CLEARED in found(answers[FORMER]), FORMER in found(answers[CLEARED]))


@pytest.mark.parametrize("below", ["{session}/subagents", "{session}/subagents/workflows/wf_1", ""])
def test_agent_asks_for_its_session(claude: Client, place: Place, below: str) -> None:
    """The session that an agent works for is left out, wherever its transcript lies."""
    agent = place.home.agent(CLEARED, f"a{len(below)}", below=below)

    answer = claude.ask(call(agent))

    assert [(CLEARED, BECAUSE_NAMED)] == left(answer)


def test_call_that_is_written_late_is_waited_for(claude: Client, place: Place) -> None:
    """Claude Code writes its transcript every 100 ms, so that a call is often made before it is written down."""
    record = place.home.session("aaaaaaaa-0000-4000-8000-00000000000f").call("mcp__searchkit__search")
    late = {**record, "sessionId": CLEARED}
    late["message"] = {**record["message"], "content": [{**record["message"]["content"][0], "id": "toolu_late"}]}
    timer = threading.Timer(LATE_SECONDS, place.open[CLEARED].line, [late])

    timer.start()
    answer = claude.ask("toolu_late")
    timer.join()

    assert [(CLEARED, BECAUSE_NAMED)] == left(answer)


@pytest.mark.parametrize("made", [None, "toolu_nowhere", "", "../x", "x" * 10_000, '"'])
def test_environment_is_the_last_resort(claude: Client, place: Place, made: str | None) -> None:
    """Without a call, or with one that no transcript holds, the session that the client was started in is left out."""
    answer = claude.ask(made)

    assert [(FORMER, BECAUSE_OPENED)] == left(answer)


def test_client_that_says_what_it_has_open_is_believed(claude: Client, place: Place) -> None:
    """The file of a running client names its session now; its environment names an older one."""
    state = {"pid": os.getpid(), "sessionId": CLEARED, "cwd": SHOP, "status": "busy"}
    path = place.home.write(place.home.root / "sessions" / f"{os.getpid()}.json", json.dumps(state))

    answer = claude.ask(None)
    path.unlink()

    assert [(CLEARED, BECAUSE_OPEN)] == left(answer)


def test_quoted_call_is_nobodys(claude: Client, place: Place) -> None:
    """A transcript that quotes the id, in texts, inputs, results, and copies of requests, is not the one that asks."""
    record = place.open[CLEARED].call("mcp__searchkit__search")
    made, quoted = tool_id(record), json.dumps(record)
    block = {"type": "tool_use", "id": made, "name": "x", "input": {}}
    liar = place.open[LIAR]
    liar.text(quoted)
    liar.call("Write", {"content": quoted, "id": made, "message": {"content": [block]}, "block": block})
    liar.prompt([block])
    liar.line({"type": "api-request-blob", "sessionId": LIAR, "message": {"role": "assistant", "content": [block]}})
    liar.line({"type": "attachment", "sessionId": LIAR, "attachment": record})
    liar.raw(f'{{"type":"assistant","sessionId":"{LIAR}","message":{{"content":[{json.dumps(block)}'.encode())

    answer = claude.ask(made)
    liar.raw(b"\n")

    assert [(CLEARED, BECAUSE_NAMED)] == left(answer)
    assert LIAR in found(answer)


def test_call_that_has_its_result_is_over(home: Home) -> None:
    """Some providers count calls, so that others made the same: only one that waits for its result can be asking."""
    answered, waiting = home.session(FORMER), home.session(CLEARED)
    record = answered.call("mcp__searchkit__search", timestamp="2030-01-01T00:00:00.000Z")
    answered.result(record, "nothing")
    waiting.line({**record, "sessionId": CLEARED, "timestamp": "2026-03-01T10:00:00.000Z"})

    assert CLEARED == caller.session_of_call(tool_id(record), [home.root], 0)


def test_call_is_found_behind_large_results(home: Home) -> None:
    """Results of calls that were made beside it may stand after it, pictures among them."""
    transcript = home.session(FORMER)
    other = transcript.call("Read", {"file_path": "/a.png"})
    made = call(transcript)
    transcript.result(other, "x" * 2_000_000)

    assert FORMER == caller.session_of_call(made, [home.root], 0)


def test_call_that_is_being_written_is_read_again(home: Home) -> None:
    """Half a record says nothing; the whole is found as soon as it is there, however long it is."""
    transcript = home.session(FORMER)
    record = transcript.call("mcp__searchkit__search", {"query": "x" * 500_000})
    written = transcript.path.read_bytes()
    transcript.path.write_bytes(written[:-10])
    timer = threading.Timer(LATE_SECONDS, transcript.raw, [written[-10:]])

    timer.start()
    session = caller.session_of_call(tool_id(record), [home.root], 10.0)
    timer.join()

    assert FORMER == session


def test_old_transcripts_are_not_waited_for(home: Home, tmp_path: Path) -> None:
    """Where nothing was written for hours, nobody who writes below this root is asking."""
    home.session(FORMER).prompt("long ago")
    began = time.monotonic()

    later = caller.session_of_call("toolu_x", [home.root], 60.0, lambda: time.time() + caller.LIVE_SECONDS + 60)
    nowhere = caller.session_of_call("toolu_x", [tmp_path / "missing"], 60.0)

    assert (None, None) == (later, nowhere)
    assert time.monotonic() - began < 30


def test_links_are_not_followed(home: Home) -> None:
    """A directory that leads in a circle, or out of the root, is passed over."""
    made = call(home.session(FORMER))
    (home.root / "projects" / "circle").symlink_to(home.root / "projects")
    below = home.project() / FORMER / "subagents"
    below.mkdir(parents=True)
    (below / "workflows").symlink_to(below)
    os.mkfifo(home.project() / "pipe.jsonl")

    assert FORMER == caller.session_of_call(made, [home.root], 0)


@pytest.mark.parametrize("state", ["", "[]", '{"pid": 2, "sessionId": "a"}', '{"pid": 7, "sessionId": "--x"}', "{"])
def test_state_that_makes_no_sense_says_nothing(home: Home, state: str) -> None:
    """A damaged file, and one that another process left, name no session."""
    home.write(home.root / "sessions" / "7.json", state)

    assert caller.session_of_client(7, [home.root]) is None
