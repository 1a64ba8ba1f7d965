"""Every block of every kind of message is found by a word that only it holds."""

from collections.abc import Iterator
from typing import Any

import pytest

from searchkit.types import Kind
from tests.support.answers import SESSION
from tests.support.probe import Line, Probed, every, marker, only, searched, write_lines
from tests.support.transcript import Home, Record, Transcript

PNG = "iVBORw0KGgo" + "A" * 400


def user(*content: Any, **extra: Any) -> Any:
    """Write a user's record of blocks, in which % is the word."""
    return lambda transcript, word: transcript.prompt(_filled(list(content), word), **extra)


def tagged(text: str, **extra: Any) -> Any:
    """Write a user's record of a text with the word in place of %."""
    return lambda transcript, word: transcript.prompt(text.replace("%", word), **extra)


def answered(block: Record) -> Any:
    """Write an assistant's record of a block, in which % is the word."""

    def write(transcript: Transcript, word: str) -> Record:
        filled = _filled(block, word)
        return transcript.text("", message={"role": "assistant", "model": "claude-opus-4-6", "content": [filled]})

    return write


def called(tool: str, values: Record) -> Any:
    """Write a tool call, in whose input % is the word."""
    return lambda transcript, word: transcript.call(tool, _filled(values, word))


def resulting(content: Any, is_error: bool = False, tool: str = "Bash") -> Any:
    """Write a call and its result, in which % is the word."""

    def write(transcript: Transcript, word: str) -> Record:
        call = transcript.call(tool, {"command": "make"})
        return transcript.result(call, _filled(content, word), is_error)

    return write


def expanded(transcript: Transcript, word: str) -> Record:
    """Write a slash command and what it became."""
    transcript.prompt("<command-name>/review</command-name>")
    return transcript.prompt([{"type": "text", "text": f"Review as {word} says"}], isMeta=True)


def _filled(value: Any, word: str) -> Any:
    if isinstance(value, dict):
        return {key.replace("%", word): _filled(inner, word) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, word) for inner in value]
    return value.replace("%", word) if isinstance(value, str) else value


SEE, ABOUT = {"type": "text", "text": "see"}, {"type": "text", "text": "about % now"}
IMAGE = {"type": "image", "source": {"type": "base64", "data": PNG}}

LINES = {
    "prompt as a string": Line(Kind.PROMPT, tagged("mend the % please"), "user"),
    "prompt as a list": Line(Kind.PROMPT, user(ABOUT), "user"),
    "prompt behind an image": Line(Kind.PROMPT, user(IMAGE, ABOUT), "user"),
    "second text of a prompt": Line(Kind.PROMPT, user(SEE, ABOUT), "user"),
    "prompt from a channel": Line(Kind.PROMPT, tagged("<channel>\n%\n</channel>", origin={"kind": "channel"}), "user"),
    "prompt of pasted markup": Line(Kind.PROMPT, tagged("<td>%</td>"), "user"),
    "text": Line(Kind.TEXT, lambda t, word: t.text(f"it was the {word}"), "assistant"),
    "text as a string": Line(
        Kind.TEXT,
        lambda t, word: t.text("", message={"role": "assistant", "content": f"plainly {word}"}),
        "assistant",
    ),
    "thinking": Line(Kind.THINKING, lambda t, word: t.thinking(f"perhaps {word}"), "assistant"),
    "document of text": Line(
        Kind.ATTACHMENT, user({"type": "document", "source": {"type": "text", "data": "a % inside"}}), "user"
    ),
    "title of a document": Line(
        Kind.ATTACHMENT,
        user({"type": "document", "title": "The %", "source": {"type": "base64", "data": PNG}}),
        "user",
    ),
    "unknown block of a user": Line(Kind.ATTACHMENT, user({"type": "hologram", "caption": "a % shines"}), "user"),
    "unknown block of the assistant": Line(
        Kind.TEXT, answered({"type": "hologram", "caption": "a % shines"}), "assistant"
    ),
    "plan that was approved": Line(
        Kind.PLAN, lambda t, word: t.prompt("go ahead", planContent=f"# Plan {word}"), "assistant"
    ),
    # Tool calls: values, nested values, names of inputs, paths.
    "command of a call": Line(Kind.TOOL_CALL, called("Bash", {"command": "grep -r % ."}), "assistant", "Bash"),
    "path of a call": Line(
        Kind.TOOL_CALL, called("Read", {"file_path": "/home/mira/src/shop/%.py"}), "assistant", "Read"
    ),
    "directory in the path of a call": Line(
        Kind.TOOL_CALL, called("Write", {"file_path": "/home/%/a.py", "content": ""}), "assistant", "Write"
    ),
    "new text of an edit": Line(
        Kind.TOOL_CALL,
        called("Edit", {"file_path": "/a.py", "old_string": "x", "new_string": "def %():\n    pass"}),
        "assistant",
        "Edit",
    ),
    "nested value of a call": Line(
        Kind.TOOL_CALL,
        called("MultiEdit", {"edits": [{"a": {"deep": [1, {"deeper": ["%"]}]}}]}),
        "assistant",
        "MultiEdit",
    ),
    "name of an input of a call": Line(
        Kind.TOOL_CALL, called("mcp__db__run", {"%": True}), "assistant", "mcp__db__run"
    ),
    "value behind a line end": Line(Kind.TOOL_CALL, called("Bash", {"command": "cat <<E\n%\nE"}), "assistant", "Bash"),
    "todo of a call": Line(
        Kind.TOOL_CALL, called("TodoWrite", {"todos": [{"content": "do %", "status": "x"}]}), "assistant", "TodoWrite"
    ),
    "task of a call": Line(
        Kind.TOOL_CALL,
        called("Task", {"prompt": "look for %", "subagent_type": "Explore"}),
        "assistant",
        "Task",
    ),
    "input of a call that is no object": Line(
        Kind.TOOL_CALL,
        answered({"type": "tool_use", "id": "toolu_string", "name": "Odd", "input": "just %"}),
        "assistant",
        "Odd",
    ),
    "call of a server's tool": Line(
        Kind.TOOL_CALL,
        answered({"type": "server_tool_use", "id": "srv_1", "name": "webReader", "input": {"url": "https://%.io"}}),
        "assistant",
        "webReader",
    ),
    # Results: a string, blocks, an object, errors.
    "result as a string": Line(Kind.TOOL_RESULT, resulting("1\t% here"), "user", "Bash"),
    "result as blocks": Line(
        Kind.TOOL_RESULT, resulting([SEE, {"type": "text", "text": "and %"}, IMAGE]), "user", "Bash"
    ),
    "result as an object": Line(Kind.TOOL_RESULT, resulting({"output": {"said": "%"}}), "user", "Bash"),
    "resource in a result": Line(
        Kind.TOOL_RESULT,
        resulting([{"type": "resource", "resource": {"uri": "file://%", "blob": PNG}}], tool="mcp__a__b"),
        "user",
        "mcp__a__b",
    ),
    "result that is an error": Line(
        Kind.TOOL_RESULT, resulting("Exit code 2\n%: not found", True), "user", "Bash", is_error=True
    ),
    "result without its call": Line(
        Kind.TOOL_RESULT, user({"type": "tool_result", "tool_use_id": "toolu_lost", "content": "lost %"}), "user"
    ),
    "result inside the assistant's message": Line(
        Kind.TOOL_RESULT, answered({"type": "tool_result", "tool_use_id": "srv_9", "content": "page of %"}), "user"
    ),
    # The machine's words in a user's record.
    "slash command": Line(Kind.COMMAND, tagged("<command-name>/%</command-name>"), "user"),
    "argument of a slash command": Line(
        Kind.COMMAND, tagged("<command-name>/fix</command-name><command-args>%</command-args>"), "user"
    ),
    "expansion of a slash command": Line(Kind.COMMAND, expanded, "system"),
    "output of a local command": Line(Kind.COMMAND, tagged("<local-command-stdout>%</local-command-stdout>"), "system"),
    "shell command that was typed": Line(Kind.COMMAND, tagged("<bash-input>ls %</bash-input>"), "user"),
    "output of a shell command": Line(Kind.COMMAND, tagged("<bash-stdout>%</bash-stdout>"), "system"),
    "skill that a tool loaded": Line(Kind.COMMAND, user(ABOUT, isMeta=True, sourceToolUseID="toolu_skill"), "system"),
    "notification of a task": Line(Kind.SYSTEM, tagged("<task-notification>%</task-notification>"), "system"),
    "reminder of the system": Line(Kind.SYSTEM, tagged("<system-reminder>%</system-reminder>"), "system"),
    "message of a peer": Line(Kind.SYSTEM, tagged("% is done", origin={"kind": "peer"}), "system"),
    "meta message": Line(Kind.SYSTEM, tagged("remember %", isMeta=True), "system"),
    "error of the API": Line(
        Kind.SYSTEM, lambda t, word: t.text(f"API Error {word}", isApiErrorMessage=True), "system", is_error=True
    ),
    "summary of a compaction": Line(Kind.SUMMARY, lambda t, word: t.compact(f"We spoke of {word}."), "user"),
    "summary without a boundary": Line(Kind.SUMMARY, tagged("Earlier: %", parent=None, isCompactSummary=True), "user"),
}

LEFT_OUT = {
    "picture": user({"type": "image", "source": {"type": "base64", "data": "%" + PNG}}),
    "hidden thinking": answered({"type": "redacted_thinking", "data": "%"}),
    "signature of a thought": answered({"type": "thinking", "thinking": "", "signature": "%"}),
    "what a result says twice": lambda t, word: t.result(
        t.call("Edit", {"file_path": "/x"}), "done", toolUseResult={"originalFile": f"all of {word}"}
    ),
    "name of a tool that could be used": resulting([{"type": "tool_reference", "tool_name": "%"}]),
}


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    """A session with a word in each of its lines."""
    records: dict[str, Record] = {}

    def write(home: Home) -> None:
        records.update(write_lines(home, LINES))
        transcript = home.session("99999999-9999-4999-8999-999999999999")
        for name, write_one in LEFT_OUT.items():
            write_one(transcript, marker(name))

    with searched(tmp_path_factory.mktemp("messages"), write) as engine:
        yield Probed(engine, records)


@pytest.mark.parametrize("name", LINES)
def test_block_is_found_by_its_word(probed: Probed, name: str) -> None:
    """The only result is that part: its record, session, kind, speaker and tool."""
    expected = LINES[name]

    found = only(probed.engine, marker(name))

    stored, place = found.best.stored, found.best.stored.link.places[0]
    assert probed.records[name]["uuid"] == stored.part.uuid
    assert (SESSION, expected.agent) == (place.session, place.agent)
    assert (expected.kind, expected.role) == (stored.part.kind, stored.part.role.value)
    assert (expected.tool, expected.is_error) == (stored.part.tool, stored.part.is_error)


@pytest.mark.parametrize("name", LINES)
def test_word_is_marked_in_the_passage(probed: Probed, name: str) -> None:
    """The passage shows the word that was asked for, and marks it and nothing else."""
    passage = only(probed.engine, marker(name)).best.passage

    assert [marker(name)] == [passage.text[start:end] for start, end in passage.highlights]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_no_text_is_left_out(probed: Probed, name: str) -> None:
    """Pictures, signatures and what a record only repeats are not searched."""
    assert [] == every(probed.engine, marker(name))
