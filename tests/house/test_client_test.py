"""What scripts/client-test has without a client: its API, its home, its inventory, and checks that can fail."""

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client import inventory, run
from client.api import Reply, ScriptedApi, call, place, say, thinking
from client.checks import faults_of
from client.home import Home
from client.report import Report
from client.stage import Planted
from client.tools import made_up
from client.transcripts import Place, places

SESSION = "11111111-1111-4111-8111-111111111111"
UUID = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    server = ScriptedApi()
    server.start()
    yield server
    server.close()


def ask(api: ScriptedApi, *messages: tuple[str, str], stream: bool = False) -> Any:
    """Send a conversation to the API; return the message, or the events of the stream."""
    request = {
        "model": "made-up",
        "stream": stream,
        "metadata": {"user_id": json.dumps({"session_id": SESSION})},
        "messages": [{"role": role, "content": content} for role, content in messages],
    }
    with urllib.request.urlopen(f"{api.url}/v1/messages?beta=true", json.dumps(request).encode(), timeout=10) as answer:
        body = answer.read().decode()
    if not stream:
        return json.loads(body)
    return [json.loads(line[len("data: ") :]) for line in body.splitlines() if line.startswith("data: ")]


def test_last_mark_names_the_script_and_answers_behind_it_the_step(api: ScriptedApi) -> None:
    """A conversation is answered by its last mark, one step further for each answer that stands behind it."""
    api.scripts["old"] = [say("never")]
    api.scripts["new"] = [say("first"), say("second")]
    before = [("user", "a [[old]]"), ("assistant", "x"), ("user", "b [[new]]")]

    texts = [ask(api, *before, *more)["content"][0]["text"] for more in ([], [("assistant", "first"), ("user", "on")])]

    assert ["first", "second"] == texts


def test_result_of_a_tool_that_quotes_a_mark_changes_nothing() -> None:
    """Only what a user says counts: a file that was read may hold marks."""
    result = {"role": "user", "content": [{"type": "tool_result", "content": "[[other]]"}]}

    assert ("one", 1) == place([{"role": "user", "content": "[[one]]"}, {"role": "assistant", "content": []}, result])


def test_stream_spells_the_same_message(api: ScriptedApi) -> None:
    """Blocks come in pieces, in order, with the tokens at the end; each response has tokens of its own."""
    api.scripts["all"] = [say(thinking("hm"), "x" * 1_000, call("Bash", command="true"))]

    events = ask(api, ("user", "[[all]]"), stream=True)
    whole = ask(api, ("user", "[[all]]"))

    starts = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    text = "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
    assert ["thinking", "text", "tool_use"] == starts == [block["type"] for block in whole["content"]]
    assert "x" * 1_000 == text == whole["content"][1]["text"]
    assert {"command": "true"} == whole["content"][2]["input"]
    # A response is noted once it was sent to its end, which its reader may see first.
    noted_by = time.monotonic() + 10
    while len(api.sent) < 2 and time.monotonic() < noted_by:
        time.sleep(0.01)
    assert [SESSION] * 2 == [sent.session for sent in api.sent]
    assert api.sent[0].usage != api.sent[1].usage


def test_scripted_error_gives_way_after_its_failures(api: ScriptedApi) -> None:
    """A step with a status fails as often as it says, then answers."""
    api.scripts["busy"] = [Reply(blocks=say("at last").blocks, status=529, failures=1)]

    with pytest.raises(urllib.error.HTTPError, match="529"):
        ask(api, ("user", "[[busy]]"))

    assert "at last" == ask(api, ("user", "[[busy]]"))["content"][0]["text"]


def test_nothing_of_the_machine_reaches_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the client is made from nothing."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")

    home = Home(directory=tmp_path / "home", binary=Path("/nowhere"), api="http://127.0.0.1:1")

    assert "secret" not in home.environment.values()
    assert (str(tmp_path / "home"), "http://127.0.0.1:1") == (
        home.environment["HOME"],
        home.environment["ANTHROPIC_BASE_URL"],
    )


def test_inventory_names_new_types_and_fields() -> None:
    """What is new is told by its name; keys that are values, such as paths, are no fields."""
    known = inventory.collect([{"type": "user", "uuid": "1", "message": {"content": "a"}}])
    seen = inventory.collect(
        [
            {"type": "user", "uuid": "2", "message": {"content": "b", "mood": "x"}},
            {"type": "snap", "trackedFileBackups": {"/home/a": 1}},
            {"type": "attachment", "attachment": {"type": "date", "date": "x"}},
        ]
    )

    news = inventory.news(seen, known)

    assert [
        "new type attachment: type",
        "new type attachment/date: date, type",
        "new type snap: trackedFileBackups, type",
        "new fields of user: message.mood",
    ] == news
    assert [] == inventory.news(seen, inventory.merged(known, seen))


def test_committed_inventory_holds_names_only() -> None:
    """No field is longer than a name, and none has a path or a space."""
    fields = [field for name, names in inventory.load().items() for field in (name, *names)]

    assert fields
    assert [] == [field for field in fields if len(field) > 80 or " " in field]


def test_word_is_found_on_disk_by_what_holds_it(tmp_path: Path) -> None:
    """Copies that the client keeps for itself do not count, results are told from prompts."""
    transcript = tmp_path / "projects" / "-shop" / f"{SESSION}.jsonl"
    transcript.parent.mkdir(parents=True)
    result = {"type": "tool_result", "content": "zqone"}
    lines: list[dict[str, Any]] = [
        {"type": "last-prompt", "lastPrompt": "zqone"},
        {"type": "user", "uuid": UUID, "sessionId": SESSION, "message": {"content": [result]}},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))

    found = places(tmp_path, {"zqone", "zqtwo"})

    assert {"zqone": [Place(session=SESSION, uuid=UUID, where="user/tool_result")]} == found


@pytest.mark.parametrize(
    ("change", "is_right"),
    [
        ({}, True),
        ({"kind": "prompt"}, False),
        ({"session": UUID}, False),
        ({"uuid": SESSION}, False),
    ],
)
def test_answer_with_another_kind_session_or_uuid_is_a_fault(change: dict[str, str], is_right: bool) -> None:
    """A planted word counts as found only as what it was planted as, where it was planted."""
    planted = Planted(word="zqone", kind="text", session=SESSION)
    hit = {"kind": "text", "session": SESSION, "uuid": UUID, "agent": None, **change}

    faults = faults_of(planted, [Place(session=SESSION, uuid=UUID, where="assistant/text")], [hit])

    assert is_right == (not faults)


def test_input_is_made_by_a_schema() -> None:
    """A tool that nobody knows gets what it requires, and a string that can be searched."""
    schema = {
        "properties": {"n": {"type": "integer"}, "mode": {"type": "string", "enum": ["a"]}, "q": {"type": "string"}},
        "required": ["n", "mode"],
    }

    assert {"n": 1, "mode": "a", "q": "zqone"} == made_up(schema, "zqone")


def test_without_npm_everything_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the client cannot be installed, that is said, and nothing has passed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "argv", ["client-test"])

    status = run.main()

    assert (0, ["skipped  client-test: npm is not installed", "0 passed, 0 failed, 1 skipped"]) == (
        status,
        capsys.readouterr().out.splitlines(),
    )


def test_one_failed_check_fails_the_run() -> None:
    """A skip fails nothing, a fault does."""
    report = Report()
    report.check("one", [])
    report.skip("two", "not here")
    passed = report.end()
    report.check("three", ["wrong"])

    assert (0, 1) == (passed, report.end())
