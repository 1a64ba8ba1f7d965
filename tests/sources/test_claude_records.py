"""How each type of record reads: what of it is a part, of which kind and by whom."""

from collections.abc import Callable
from typing import Any

import pytest

from searchkit.backends.base import Backend
from tests.support.answers import (
    OTHER,
    SESSION,
    complaints,
    noise_in,
    read,
    records_of,
    sessions_with,
    spoken,
)
from tests.support.transcript import Home, Record, tool_id

Index = Callable[[], Backend]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}


def assistant(*content: Any, **fields: Any) -> Record:
    """Make an assistant record with these blocks."""
    return {"type": "assistant", "uuid": "u1", "message": {"role": "assistant", "content": list(content)}, **fields}


def user(content: Any, **fields: Any) -> Record:
    """Make a user record with this content."""
    return {"type": "user", "uuid": "u1", "message": {"role": "user", "content": content}, **fields}


def attachment(kind: str, **fields: Any) -> Record:
    """Make an attachment of that type."""
    return {"type": "attachment", "uuid": "u1", "attachment": {"type": kind, **fields}}


def system(subtype: str, **fields: Any) -> Record:
    """Make a system record of that subtype."""
    return {"type": "system", "uuid": "u1", "subtype": subtype, **fields}


NESTED = {"query": "cart", "options": {"deep": {"limit": 3}, "tags": ["a", "b"]}, "all": True, "none": None}
WRITTEN = "query: cart\noptions.deep.limit: 3\noptions.tags.0: a\noptions.tags.1: b\nall: true\nnone: null"
RESULT = {"type": "tool_result", "tool_use_id": "t1"}
QUEUE = {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION}
REFERENCE = {"type": "tool_reference", "tool_name": "x"}

SENT = {"role": "user", "content": [{"type": "text", "text": "boilerplate"}]}
OPENED = "<ide_opened_file>The user opened the file cart.py.</ide_opened_file>"

PARTS: list[tuple[str, Record, list[tuple[str, str, str]]]] = [
    ("api-request", {"type": "api-request", "params": {"model": "m"}, "tail": ["hash"]}, []),
    ("api-request-shape", {"type": "api-request-shape", "shape": {"system": ["You are"], "tools": ["Bash"]}}, []),
    ("api-request-blob", {"type": "api-request-blob", "hash": "h", "message": SENT}, []),
    ("tools-used", {"type": "tools-used", "tools": ["Read"], "sessionId": SESSION}, []),
    ("cost-state", {"type": "cost-state", "totalCostUSD": 0.3, "sessionId": SESSION}, []),
    (
        "message of an unknown type",
        {"type": "quartz", "uuid": "u1", "message": {"role": "user", "content": "not typed"}},
        [("system", "system", "not typed")],
    ),
    (
        "message of an unknown type without uuid",
        {"type": "quartz", "message": {"role": "user", "content": "<command-name>/x</command-name>"}},
        [("system", "system", "/x")],
    ),
    ("typed", user("<tick> is my tag", promptSource="typed"), [("prompt", "user", "<tick> is my tag")]),
    ("by a program for a person", user("go on", promptSource="sdk"), [("prompt", "user", "go on")]),
    ("by the client", user("go on", promptSource="system"), [("system", "system", "go on")]),
    ("by a person, as its origin says", user("go on", origin={"kind": "human"}), [("prompt", "user", "go on")]),
    (
        "typed beside an open file",
        user([{"type": "text", "text": f"{OPENED}\nwhy is it slow?"}]),
        [("prompt", "user", f"why is it slow?\n\n{OPENED}")],
    ),
    ("an open file alone", user(OPENED), [("system", "system", OPENED)]),
    (
        "compaction that only its words tell",
        user("This session is being continued from a previous conversation that ran out of context. We"),
        [
            (
                "summary",
                "user",
                "This session is being continued from a previous conversation that ran out of context. We",
            )
        ],
    ),
    (
        "call without input",
        assistant({"type": "tool_use", "id": "t1", "name": "ListAgents", "input": {}}),
        [("tool_call", "assistant", "ListAgents")],
    ),
    ("text", assistant({"type": "text", "text": "hi"}), [("text", "assistant", "hi")]),
    ("string content", {**assistant(), "message": {"content": "plain"}}, [("text", "assistant", "plain")]),
    ("thinking", assistant({"type": "thinking", "thinking": "hm"}), [("thinking", "assistant", "hm")]),
    (
        "tool_use",
        assistant({"type": "tool_use", "id": "t1", "name": "Find", "input": NESTED}),
        [("tool_call", "assistant", WRITTEN)],
    ),
    (
        "server_tool_use",
        assistant({"type": "server_tool_use", "id": "t1", "name": "web", "input": {"q": "x"}}),
        [("tool_call", "assistant", "q: x")],
    ),
    ("result by the assistant", assistant({**RESULT, "content": "page"}), [("tool_result", "user", "page")]),
    (
        "api error",
        assistant({"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True),
        [("system", "system", "API Error: 529")],
    ),
    ("redacted thinking", assistant({"type": "redacted_thinking", "data": "abc"}), []),
    (
        "block of a type to come",
        assistant({"type": "hologram", "id": "h1", "caption": "a cart"}),
        [("text", "assistant", "a cart")],
    ),
    (
        "analysis outside of a compaction",
        assistant({"type": "text", "text": "<analysis>x"}),
        [("text", "assistant", "<analysis>x")],
    ),
    ("prompt", user("fix it"), [("prompt", "user", "fix it")]),
    (
        "prompt in blocks",
        user([{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]),
        [("prompt", "user", "a"), ("prompt", "user", "b")],
    ),
    ("no content", user(None), []),
    ("message that is a string", {**user(""), "message": "bare"}, [("prompt", "user", "bare")]),
    ("result", user([{**RESULT, "content": "ok"}]), [("tool_result", "user", "ok")]),
    (
        "result in items",
        user([{**RESULT, "content": [{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]}]),
        [("tool_result", "user", "a\nb")],
    ),
    ("result of only images", user([{**RESULT, "content": [IMAGE]}]), []),
    ("result of only references", user([{**RESULT, "content": [REFERENCE]}]), []),
    (
        "meta",
        user("Continue from where you left off.", isMeta=True),
        [("system", "system", "Continue from where you left off.")],
    ),
    ("origin of a peer", user("done", origin={"kind": "peer"}), [("system", "system", "done")]),
    ("origin of a person", user("done", origin={"kind": "human"}), [("prompt", "user", "done")]),
    ("compact summary", user("We did this", isCompactSummary=True), [("summary", "user", "We did this")]),
    (
        "plan",
        user("Implement the plan", planContent="# Plan\n1. cart"),
        [("prompt", "user", "Implement the plan"), ("plan", "assistant", "# Plan\n1. cart")],
    ),
    (
        "queued prompt",
        attachment("queued_command", prompt="and this", commandMode="prompt"),
        [("prompt", "user", "and this")],
    ),
    (
        "queued prompt in blocks",
        attachment("queued_command", prompt=[{"type": "text", "text": "see"}, IMAGE], commandMode="prompt"),
        [("prompt", "user", "see")],
    ),
    (
        "queued notification",
        attachment("queued_command", prompt="a task ended", commandMode="task-notification"),
        [("system", "system", "a task ended")],
    ),
    (
        "queued meta",
        attachment("queued_command", prompt="x", commandMode="prompt", isMeta=True),
        [("system", "system", "x")],
    ),
    (
        "nested memory",
        attachment("nested_memory", path="/shop/CLAUDE.md", content={"content": "use tabs"}),
        [("attachment", "system", "/shop/CLAUDE.md\nuse tabs")],
    ),
    (
        "edited file",
        attachment("edited_text_file", filename="a.py", snippet="x = 1"),
        [("attachment", "system", "a.py\nx = 1")],
    ),
    (
        "hook",
        attachment("hook_success", hookName="Stop", toolUseID="t", stdout="fine"),
        [("attachment", "system", "fine")],
    ),
    ("attachment without text", attachment("auto_mode_exit"), []),
    ("attachment to come", attachment("new_thing", id="n1", note="look"), [("attachment", "system", "look")]),
    ("system content", system("informational", content="Notice"), [("system", "system", "Notice")]),
    (
        "away summary",
        system("away_summary", content="While you were away"),
        [("system", "system", "While you were away")],
    ),
    (
        "api_error",
        system("api_error", error={"message": "overloaded"}, cause={"code": "ECONNRESET"}),
        [("system", "system", "overloaded\nECONNRESET")],
    ),
    ("turn_duration", system("turn_duration", durationMs=12), []),
    (
        "local_command",
        system("local_command", content="<command-name>/usage</command-name>"),
        [("command", "user", "/usage")],
    ),
    (
        "output of a local_command",
        system("local_command", content="<local-command-stdout>42 %</local-command-stdout>"),
        [("command", "system", "<local-command-stdout>42 %</local-command-stdout>")],
    ),
    ("queue", {**QUEUE, "content": "typed ahead"}, [("prompt", "user", "typed ahead")]),
    (
        "queued tag",
        {**QUEUE, "content": "<task-notification>x</task-notification>"},
        [("system", "system", "<task-notification>x</task-notification>")],
    ),
    ("dequeue", {**QUEUE, "operation": "dequeue"}, []),
    ("last-prompt", {"type": "last-prompt", "lastPrompt": "the last"}, [("history", "user", "the last")]),
    ("summary", {"type": "summary", "summary": "Cart fixed", "leafUuid": "x"}, [("title", "system", "Cart fixed")]),
    ("custom-title", {"type": "custom-title", "customTitle": "Cart"}, [("title", "system", "Cart")]),
    ("ai-title", {"type": "ai-title", "aiTitle": "Fix cart"}, [("title", "system", "Fix cart")]),
    ("agent-name", {"type": "agent-name", "agentName": "scout"}, [("title", "system", "scout")]),
    ("tag", {"type": "tag", "tag": "release"}, [("title", "system", "release")]),
    (
        "pr-link",
        {"type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/pull/7", "prRepository": "mira/shop"},
        [("system", "system", "#7\nhttps://example.org/pull/7\nmira/shop")],
    ),
    (
        "frame-link",
        {"type": "frame-link", "path": "/a.html", "frameUrl": "https://example.org/f", "title": "Cart"},
        [("system", "system", "/a.html\nhttps://example.org/f\nCart")],
    ),
    (
        "worktree-state",
        {"type": "worktree-state", "worktreeSession": {"worktreePath": "/wt/cart"}},
        [("system", "system", "/wt/cart")],
    ),
    ("permission-mode", {"type": "permission-mode", "permissionMode": "plan"}, []),
    ("mode", {"type": "mode", "mode": "normal"}, []),
    ("bridge-session", {"type": "bridge-session", "bridgeSessionId": "b", "lastSequenceNum": 1}, []),
    ("file-history-snapshot", {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}, []),
    ("file-history-delta", {"type": "file-history-delta", "trackingPath": "/shop/a.py", "backup": {}}, []),
    ("fork-context-ref", {"type": "fork-context-ref", "parentSessionId": OTHER, "parentLastUuid": "x"}, []),
    ("started", {"type": "started", "key": "k", "agentId": "a1"}, []),
    ("unknown", {"type": "quartz", "uuid": "u1", "payload": {"note": "look"}}, [("system", "system", "look")]),
    (
        "unknown message",
        {"type": "tool", "uuid": "u1", "message": {"role": "tool", "content": [{**RESULT, "content": "out"}]}},
        [("tool_result", "user", "out")],
    ),
    (
        "unknown message in the machine's words",
        {"type": "note", "uuid": "u1", "message": {"role": "user", "content": "<system-reminder>x"}},
        [("system", "system", "<system-reminder>x")],
    ),
    ("no type", {"silly": "line"}, [("system", "system", "line")]),
]


@pytest.mark.parametrize(("record", "parts"), [case[1:] for case in PARTS], ids=[case[0] for case in PARTS])
def test_record_reads_as_these_parts(home: Home, record: Record, parts: list[tuple[str, str, str]]) -> None:
    """Each type of record makes the parts, of the kind and by the speaker, that its words are."""
    home.session(SESSION).line(record)

    assert parts == spoken(read(home.root))


def test_unknown_type_is_reported(home: Home) -> None:
    """A type nobody has described is read and named, so that somebody describes it."""
    transcript = home.session(SESSION)
    transcript.prompt("hello")
    transcript.line({"type": "quartz", "note": "look"})

    assert [("unknown type", f"{SESSION}.jsonl", 2)] == complaints(read(home.root))


def test_record_without_uuid_is_named_by_what_it_says(home: Home) -> None:
    """The same line in two places is one record; other words make another."""
    transcript = home.session(SESSION)
    title = {"type": "custom-title", "customTitle": "Cart", "sessionId": SESSION}
    transcript.line(title)
    transcript.line({**title, "customTitle": "Order"})
    transcript.line(title)

    uuids = [record.uuid for record in records_of(read(home.root))]

    assert [False] * 3 == [record.is_link for record in records_of(read(home.root))]
    assert uuids[0] == uuids[2] != uuids[1]


@pytest.mark.parametrize("role", ["typed", "skill"])
def test_expansion_of_a_command_belongs_to_the_command(home: Home, role: str) -> None:
    """Meta text right below a command, or called for by a tool, is that command's, not the system's."""
    transcript = home.session(SESSION)
    if role == "typed":
        transcript.prompt("<command-name>/review</command-name>")
        transcript.prompt([{"type": "text", "text": "Review everything."}], isMeta=True)
    else:
        call = transcript.call("Skill", {"skill": "review"})
        transcript.prompt("Review everything.", isMeta=True, sourceToolUseID=tool_id(call))
    transcript.prompt("Something else.", isMeta=True, parent=None)

    expected = [("command", "system", "Review everything."), ("system", "system", "Something else.")]
    assert expected == spoken(read(home.root))[-2:]


def test_expansion_is_known_when_it_comes_in_a_later_reading(home: Home) -> None:
    """Reading on remembers the command just typed."""
    transcript = home.session(SESSION)
    transcript.prompt("<command-name>/review</command-name>")
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    transcript.prompt("Review everything.", isMeta=True)

    assert [("command", "system", "Review everything.")] == spoken(read(home.root, seen))


def test_result_in_a_later_reading_knows_its_tool(home: Home) -> None:
    """Reading on remembers which calls are open."""
    transcript = home.session(SESSION)
    call = transcript.call("Grep", {"pattern": "cart"})
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    transcript.result(call, "a.py", is_error=True)

    (record,) = records_of(read(home.root, seen))

    (block,) = record.blocks
    assert ("Grep", tool_id(call), True) == (block.tool, block.call, block.is_error)


def test_inputs_of_a_call_can_be_found_in_its_text(home: Home) -> None:
    """Every input of a call says where in the text its value lies."""
    transcript = home.session(SESSION)
    transcript.call("Edit", {"file_path": "/shop/a.py", "new_string": "line 1\nkey: \x1b[31mred\x1b[0m"})

    (record,) = records_of(read(home.root))

    (block,) = record.blocks
    values = {field.name: block.text[field.start : field.end] for field in block.fields}
    assert {"file_path": "/shop/a.py", "new_string": "line 1\nkey: red"} == values


def test_calls_tell_which_files_they_touch(home: Home, indexed: Index) -> None:
    """A session is found by a file that one of its calls read, edited or wrote, or that its history tracked."""
    transcript = home.session(SESSION)
    transcript.call("Read", {"file_path": "/shop/read.py"})
    transcript.call("mcp__filesystem__write_file", {"path": "/shop/written.py"})
    transcript.call("Grep", {"path": "/shop/searched"})
    snapshot: Record = {"trackedFileBackups": {"/shop/tracked.py": {}}}
    transcript.line({"type": "file-history-snapshot", "messageId": "m", "snapshot": snapshot})

    backend = indexed()

    found = [name for name in ("read.py", "written.py", "searched", "tracked.py") if by_file(backend, name)]
    assert ["read.py", "written.py", "tracked.py"] == found


def by_file(backend: Backend, name: str) -> bool:
    """Tell whether a session is found by a file that it touched."""
    return [SESSION] == sessions_with(backend, "file", name)


@pytest.mark.parametrize("prompt", ["Warmup", "  Warmup\n"])
def test_warmup_ends_with_the_next_prompt(home: Home, prompt: str) -> None:
    """Everything from a warm-up up to the next prompt is noise; a command in between does not end it."""
    transcript = home.session(SESSION)
    transcript.prompt(prompt)
    transcript.text("ready")
    transcript.prompt("<command-name>/clear</command-name>")
    transcript.prompt("now work")
    transcript.text("working")

    changes = read(home.root)

    assert [("prompt", "user", "now work"), ("text", "assistant", "working")] == spoken(changes)
    assert {"warmup": 3} == noise_in(changes)
    assert 5 == len(records_of(changes))


def test_what_does_not_answer_a_warmup_is_heard(home: Home) -> None:
    """Beside a warm-up, what hangs from another record is part of the conversation, and so is a title."""
    transcript = home.session(SESSION)
    transcript.prompt("why is it slow?")
    asked = transcript.last
    transcript.prompt("Warmup", parentUuid=None)
    transcript.text("ready")
    transcript.text("because of the index", parentUuid=asked)
    transcript.raw(b'{"type":"custom-title","customTitle":"Slow queries","sessionId":"%s"}\n' % SESSION.encode())

    changes = read(home.root)

    assert ["why is it slow?", "because of the index", "Slow queries"] == [words for _, _, words in spoken(changes)]
    assert {"warmup": 2} == noise_in(changes)


def test_warmup_goes_on_in_a_later_reading(home: Home) -> None:
    """Reading on remembers that a warm-up is under way."""
    transcript = home.session(SESSION)
    transcript.prompt("Warmup")
    seen: dict[str, bytes] = {}
    read(home.root, seen)
    transcript.text("ready")

    changes = read(home.root, seen)

    assert ([], {"warmup": 1}) == (spoken(changes), noise_in(changes))


def test_prompt_about_warmups_is_a_prompt(home: Home) -> None:
    """Only the bare word is a warm-up."""
    home.session(SESSION).prompt("Warmup the cache, please")

    assert [("prompt", "user", "Warmup the cache, please")] == spoken(read(home.root))
