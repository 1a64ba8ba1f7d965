"""Every attachment, event and state line is found by a word that only it holds, or left out on purpose."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from searchkit.query.types import Condition, Filter
from searchkit.types import Kind
from tests.support.answers import SESSION
from tests.support.probe import Line, Probed, every, marker, only, searched, state, write_lines
from tests.support.transcript import Home, Record, Transcript

ASIDE = "99999999-9999-4999-8999-999999999999"
Write = Callable[[Transcript, str], Record]
HOOK = {"hookName": "Stop", "hookEvent": "Stop", "toolUseID": "toolu_1", "exitCode": 0, "durationMs": 5}


def attached(attachment_type: str, **fields: Any) -> Line:
    """Write an attachment, in whose fields % is the word."""
    return Line(Kind.ATTACHMENT, lambda t, word: t.attachment(attachment_type, **_filled(fields, word)), "system")


def queued(kind: Kind, role: str, prompt: Any, mode: str = "prompt", **fields: Any) -> Line:
    """Write what was typed while the assistant worked."""

    def write(transcript: Transcript, word: str) -> Record:
        return transcript.attachment("queued_command", prompt=_filled(prompt, word), commandMode=mode, **fields)

    return Line(kind, write, role)


def event(subtype: str, kind: Kind = Kind.SYSTEM, is_error: bool = False, role: str = "system", **fields: Any) -> Line:
    """Write a system record, in whose fields % is the word."""
    return Line(kind, lambda t, word: t.system(subtype, **_filled(fields, word)), role, is_error=is_error)


def running(data_type: str, **fields: Any) -> Line:
    """Write the progress of a call that has no result yet."""

    def write(transcript: Transcript, word: str) -> Record:
        call = transcript.call("Bash", {"command": "make"})
        return transcript.progress({"type": data_type, **_filled(fields, word)}, call)

    return Line(Kind.TOOL_RESULT, write, "user")


def delegated(kind: Kind, role: str, message_type: str, block: Record, **about: Any) -> Line:
    """Write a message of an agent as the transcript of its session repeats it."""

    def write(transcript: Transcript, word: str) -> Record:
        message = {"type": message_type, "message": {"role": message_type, "content": [_filled(block, word)]}}
        call = transcript.call("Task", {"prompt": "look"})
        return transcript.progress({"type": "agent_progress", "agentId": "a77", "message": message}, call)

    return Line(kind, write, role, agent="a77", **about)


def told(record_type: str, kind: Kind, role: str = "system", **fields: Any) -> Line:
    """Write a line without uuid."""
    return Line(kind, state(record_type, **fields), role)


def _filled(value: Any, word: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, word) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, word) for inner in value]
    return value.replace("%", word) if isinstance(value, str) else value


TEXT = {"type": "text", "text": "the agent said %"}
MESSAGE = {"role": "assistant", "content": [{"type": "text", "text": "said %"}]}

LINES = {
    # What a person typed while the assistant worked is nowhere else.
    "typed while working": queued(Kind.PROMPT, "user", "also %"),
    "typed while working, as blocks": queued(Kind.PROMPT, "user", [{"type": "text", "text": "also %"}]),
    "command typed while working": queued(Kind.COMMAND, "user", "<command-name>/%</command-name>"),
    "task that ended while working": queued(Kind.SYSTEM, "system", "task % ended", "task-notification"),
    "bash typed while working": queued(Kind.COMMAND, "user", "<bash-input>% -l</bash-input>", "bash"),
    "file that was attached": attached("file", filename="/a.py", content={"file": {"content": "%"}}),
    "name of a file that was attached": attached("file", filename="/src/%.py", content={}),
    "directory that was attached": attached("directory", path="/src", displayPath="src", content="a\n%"),
    "memory that was attached": attached("nested_memory", path="/CLAUDE.md", content={"content": "% first"}),
    "file that was edited": attached("edited_text_file", filename="/b.py", snippet="1 %"),
    "lines that were selected": attached("selected_lines_in_ide", filename="/c.py", content="if %:"),
    "file that was opened": attached("opened_file_in_ide", filename="/src/%.ts"),
    "file that a summary names": attached("compact_file_reference", filename="/src/%.ts", displayPath="x"),
    "plan that was attached": attached("plan_file_reference", planFilePath="/p.md", planContent="# %"),
    "path of a plan": attached("plan_mode", reminderType="full", planFilePath="/plans/%.md"),
    "skills that were listed": attached("skill_listing", content="- %: does it", skillCount=1),
    "skills that were invoked": attached("invoked_skills", skills=[{"name": "x", "content": "how to %"}]),
    "tools that came": attached("deferred_tools_delta", addedNames=["mcp__%__run"], addedLines=[]),
    "agents that came": attached("agent_listing_delta", addedTypes=["x"], addedLines=["- %: explores"]),
    "instructions of a server": attached("mcp_instructions_delta", addedNames=["x"], addedBlocks=["## %"]),
    "todos that were recalled": attached("todo_reminder", content=[{"content": "do %", "status": "pending"}]),
    "tasks that were recalled": attached("task_reminder", content=[{"subject": "do %", "id": "1"}]),
    "permissions of a command": attached("command_permissions", allowedTools=["Bash(%:*)"]),
    "goal": attached("goal_status", met=False, condition="until % works", reason="no"),
    "notice of a cut": attached("read_truncation_notice", banner="cut at %"),
    "attachment of an unknown type": attached("hologram", shown={"deep": ["%"]}),
    "hook that succeeded": attached("hook_success", content="% passed", **HOOK),
    "what a hook printed": attached("hook_success", content="", stdout="% printed", **HOOK),
    "what a hook complained": attached("hook_non_blocking_error", stderr="% failed", **HOOK)._replace(is_error=True),
    "what a hook forbade": attached(
        "hook_blocking_error", blockingError={"blockingError": "no %", "command": "x"}, **HOOK
    )._replace(is_error=True),
    "what a hook added": attached("hook_additional_context", content=["mind %"], **HOOK),
    "what a hook told": attached("hook_system_message", content="% told", **HOOK),
    "answer of a hook that came late": attached("async_hook_response", response={"systemMessage": "late %"}, **HOOK),
    # System records by their subtypes.
    "error of the API in the log": event("api_error", is_error=True, error={"error": {"message": "% overloaded"}}),
    "cause of an error": event("api_error", is_error=True, cause={"code": "%"}),
    "summary of an absence": event("away_summary", content="while you were away %"),
    "local command": event("local_command", Kind.COMMAND, role="user", content="<command-name>/%</command-name>"),
    "output of a local command": event(
        "local_command", Kind.COMMAND, content="<local-command-stdout>%</local-command-stdout>"
    ),
    "task that was due": event("scheduled_task_fire", content="fire %"),
    "bridge": event("bridge_status", content="open", url="https://claude.ai/%"),
    "information": event("informational", content="mind %"),
    "error of a stop hook": event("stop_hook_summary", hookErrors=["% broke"], hookInfos=[]),
    "reason to stop": event("stop_hook_summary", stopReason="because %"),
    "context of a stop hook": event("stop_hook_summary", hookAdditionalContext=["more %"]),
    "boundary of a compaction": event("compact_boundary", content="compacted %", parent=None),
    "small boundary": event("microcompact_boundary", content="a bit %"),
    "system record with a message": event("none", message=MESSAGE),
    "system record of level error": event("none", is_error=True, level="error", content="% bad"),
    # Progress of calls that never ended, and of agents.
    "output so far": running("bash_progress", output="x", fullOutput="x\n%"),
    "last output": running("bash_progress", output="% now"),
    "progress of a server": running("mcp_progress", serverName="s", progressMessage="at %"),
    "query under way": running("query_update", query="where is %"),
    "text of an agent under way": delegated(Kind.TEXT, "assistant", "assistant", TEXT),
    "prompt of an agent under way": delegated(Kind.PROMPT, "user", "user", TEXT),
    "call of an agent under way": delegated(
        Kind.TOOL_CALL,
        "assistant",
        "assistant",
        {"type": "tool_use", "id": "t1", "name": "Grep", "input": {"pattern": "%"}},
        tool="Grep",
    ),
    # Lines without uuid.
    "summary line": told("summary", Kind.TITLE, summary=None, leafUuid="x"),
    "custom title": told("custom-title", Kind.TITLE, customTitle=None),
    "title of the model's": told("ai-title", Kind.TITLE, aiTitle=None),
    "name of an agent": told("agent-name", Kind.TITLE, agentName=None),
    "tag": told("tag", Kind.TITLE, tag=None),
    "last prompt": told("last-prompt", Kind.HISTORY, "user", lastPrompt=None, leafUuid="x"),
    "setting of an agent": told("agent-setting", Kind.SYSTEM, agentSetting=None),
    "link of a pull request": told("pr-link", Kind.SYSTEM, prNumber=7, prUrl="https://x", prRepository=None),
    "link of a frame": told("frame-link", Kind.SYSTEM, path="/x", frameUrl="https://x", title=None),
    "worktree": told("worktree-state", Kind.SYSTEM, worktreeSession={"worktreePath": "/w"}, branch=None),
    "queued prompt": told("queue-operation", Kind.PROMPT, "user", operation="enqueue", content=None),
    "unknown type": told("quartz", Kind.SYSTEM, remark=None),
    "described type nobody saw": told("content-replacement", Kind.SYSTEM, replacement=None),
    "unknown type with a message": Line(
        Kind.TEXT, lambda t, word: t.line({"type": "tool", "message": _filled(MESSAGE, word)}), "assistant"
    ),
}  # fmt: skip


def _finished(transcript: Transcript, word: str) -> Record:
    call = transcript.call("Bash", {"command": "make"})
    transcript.progress({"type": "bash_progress", "fullOutput": f"half of {word}"}, call)
    return transcript.result(call, "all of it")


LEFT_OUT: dict[str, Write] = {
    "progress of a hook": lambda t, word: t.progress(
        {"type": "hook_progress", "command": word}, t.call("Bash", {"command": "x"})
    ),
    "progress of what has ended": _finished,
    "mode": state("mode", mode=None),
    "mode of permission": state("permission-mode", permissionMode=None),
    "colour of an agent": state("agent-color", agentColor=None),
    "bridge of a session": state("bridge-session", bridgeSessionId=None),
    "reference of a fork": state("fork-context-ref", agentId=None, parentSessionId="x"),
    "duration of a turn": lambda t, word: t.system("turn_duration", durationMs=5, slug=word),
}
# What names files: no words, and yet the session is found by the file.
TRACKED: dict[str, Write] = {
    "snapshot of files": lambda t, word: t.line(
        {"type": "file-history-snapshot", "sessionId": t.session, "messageId": "m"}
        | {"snapshot": {"trackedFileBackups": {f"src/{word}.py": {}}}}
    ),
    "change of a file": state("file-history-delta", messageId="m", trackingPath=None),
}


# What every session says belongs to no record of one session.
LISTINGS = ("skills that were listed", "tools that came", "agents that came", "instructions of a server")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    """A session with a word in each of its lines, and another with what is left out."""
    records: dict[str, Record] = {}

    def write(home: Home) -> None:
        records.update(write_lines(home, LINES))
        transcript = home.session(ASIDE)
        for name, write_one in (LEFT_OUT | TRACKED).items():
            write_one(transcript, marker(name))

    with searched(tmp_path_factory.mktemp("events"), write) as engine:
        yield Probed(engine, records)


@pytest.mark.parametrize("name", LINES)
def test_line_is_found_by_its_word(probed: Probed, name: str) -> None:
    """The only result is that part: its record, session, agent, kind, speaker and state."""
    expected = LINES[name]

    found = only(probed.engine, marker(name))

    stored, place = found.best.stored, found.best.stored.link.places[0]
    if name not in LISTINGS:
        assert probed.records[name].get("uuid", stored.part.uuid) == stored.part.uuid
    assert (SESSION, expected.agent) == (place.session, place.agent)
    assert (expected.kind, expected.role) == (stored.part.kind, stored.part.role.value)
    assert expected.is_error == stored.part.is_error


@pytest.mark.parametrize("name", LEFT_OUT)
def test_bookkeeping_is_left_out(probed: Probed, name: str) -> None:
    """What holds no words of anybody, or stood in for what has come since, is not found."""
    assert [] == every(probed.engine, marker(name))


@pytest.mark.parametrize("name", TRACKED)
def test_tracked_file_leads_to_its_session(probed: Probed, name: str) -> None:
    """A file that only the file history names is no text, but the session is found by it."""
    assert [] == every(probed.engine, marker(name))
    meant = Condition(filters=(Filter(name="file", values=(marker(name),)),))
    assert [ASIDE] == [session.id for session in probed.engine.sessions(meant)]
