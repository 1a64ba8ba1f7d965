"""Turns: the assistant thinks, talks and calls tools, and the results come back."""

from collections.abc import Iterator
from typing import Any

from tests.corpus import attachments, prompts, tools
from tests.corpus.agents import delegate
from tests.corpus.conversation import Conversation, Record
from tests.corpus.tools import Use

AGENT_SHARE = 0.5  # bytes of plain agents per byte of a session, FORMAT section 1
# Of the responses with several calls; FORMAT section 6 has 10 % with results in between, and does not count the other.
INTERLEAVED, REORDERED = 0.12, 0.2
PREVIEW_CHARS = 2_000
MACHINES = (
    "/Users/someone/.claude/projects/-p/{}/tool-results/{}",
    "C:\\Users\\x\\.claude\\projects\\p\\{}\\tool-results\\{}",
)


def turn(conversation: Conversation) -> None:
    """Write one turn, from what was asked to the last word."""
    conversation.marks.append(conversation.mark())
    prompts.open_turn(conversation)
    conversation.asked = conversation.mark()
    work(conversation, conversation.bytes + 40_000)


def work(conversation: Conversation, limit: int) -> None:
    """Write responses until the assistant is done, or about that many bytes are written."""
    world = conversation.world
    while world.chance(0.87) and conversation.bytes < limit:
        respond(conversation)
    answer = conversation.text.prose("answer", conversation.language, conversation.text.size(220, 1.9, 100_000))
    conversation.response([{"type": "text", "text": answer}])
    _close(conversation)


def respond(conversation: Conversation) -> None:
    """Write one response that calls one to three tools, and their results."""
    world = conversation.world
    blocks: list[Record] = []
    if world.chance(0.32):
        blocks.append(_thinking(conversation))
    if world.chance(0.4):
        said = conversation.text.prose("narration", conversation.language, conversation.text.size(30, 1.2, 600))
        blocks.append({"type": "text", "text": said})
    roll = world.rng.random()
    uses = [tools.choose(conversation) for _ in range(1 if roll < 0.75 else 2 if roll < 0.92 else 3)]
    calls = [conversation.call(use.name, use.values) for use in uses]
    before = conversation.bytes
    manner = _manner(conversation) if len(uses) > 1 else ""
    records = conversation.responding([*blocks, *calls], manner, manner != "interleaved" or world.chance(0.5))
    for _ in blocks:
        next(records)
    answered: Iterator[tuple[Use, Record, Record]] = zip(uses, calls, records, strict=True)
    if manner != "interleaved":
        # Only once all of the response is written does the first result come, and then perhaps not that of the first.
        written = list(answered)
        answered = reversed(written) if manner == "reordered" else iter(written)
    for use, call, record in answered:
        _follow(conversation, use, call, record["uuid"])
        answer(conversation, use, call, record["uuid"])
    conversation.agents_due += (conversation.bytes - before) * AGENT_SHARE
    if conversation.era == "attachment" and conversation.agent is None and world.chance(0.01):
        prompts.interject(conversation)
    if conversation.era == "attachment" and world.chance(0.78):
        attachments.attach(conversation)
        if world.chance(0.03):
            conversation.swap()
    if not conversation.quiet and conversation.era != "old":
        delegate(conversation, work)


def answer(conversation: Conversation, use: Use, call: Record, parent: str) -> Record:
    """Write the result of a call, below its own call."""
    world = conversation.world
    content, text = use.content, use.text
    word = None
    if isinstance(content, str) and text and not use.is_error:
        content, word = conversation.planting("tool_result", content)
        text = content
        if len(content) > 6_000 and not conversation.quiet and world.chance(0.12) and word is None:
            content = text = _persist(conversation, call, content)
    extra: dict[str, Any] = {}
    if conversation.agent is None or world.chance(0.1):
        extra["toolUseResult"] = use.outcome
    extra["sourceToolAssistantUUID"] = parent
    record = conversation.result(call, parent, content, text, use.is_error, **extra)
    conversation.planted(record, "tool_result", word)
    return record


def unfinished(conversation: Conversation) -> None:
    """End with a call whose result never came; only its last progress tells what it printed."""
    call = conversation.call("Bash", {"command": "make watch", "description": "Watch"})
    record = conversation.response([call])[0]
    for number in range(3):
        output = conversation.text.printed("log", 400 * (number + 1))
        last = conversation.progress(_bash_progress(output, number), call, record["uuid"])
    conversation.part(last, "tool_result", output)


def _manner(conversation: Conversation) -> str:
    """Choose how the results of several calls come."""
    roll = conversation.world.rng.random()
    return "interleaved" if roll < INTERLEAVED else "reordered" if roll < INTERLEAVED + REORDERED else "parallel"


def _thinking(conversation: Conversation) -> Record:
    text = conversation.text
    thought = ""
    if conversation.quiet or not conversation.world.chance(0.28):
        thought = text.prose("thought", conversation.language, text.size(170, 1.7, 40_000))
    return {"type": "thinking", "thinking": thought, "signature": text.base64(text.size(700, 0.6, 4_000))}


def _follow(conversation: Conversation, use: Use, call: Record, parent: str) -> None:
    """Write the progress of a call that will have its result."""
    world = conversation.world
    if conversation.era != "progress":
        return
    if not conversation.quiet and world.chance(0.9):
        data: Record = {"type": "hook_progress", "hookEvent": "PreToolUse", "hookName": "PreToolUse:Bash"}
        conversation.progress({**data, "command": "hooks/guard.sh"}, call, parent)
        conversation.ledger.noise["hook_progress"] += 1
    if use.name == "Bash" and world.chance(0.5):
        output = conversation.text.printed("log", conversation.text.size(420, 0.9, 3_000))
        for number in range(1 + int(world.rng.expovariate(1 / 10.5))):
            conversation.progress(_bash_progress(output, number), call, parent)
    elif use.name.startswith("mcp__"):
        for status in ("started", "completed"):
            data = {"type": "mcp_progress", "status": status, "serverName": "search", "toolName": "find"}
            conversation.progress(data, call, parent)
    elif use.name == "WebSearch":
        query = use.values["query"]
        conversation.progress({"type": "query_update", "query": query}, call, parent)
        data = {"type": "search_results_received", "resultCount": 10, "query": query}
        conversation.progress(data, call, parent)
    elif use.name == "TaskOutput":
        data = {"type": "waiting_for_task", "taskDescription": "build", "taskType": "local_bash"}
        conversation.progress(data, call, parent)


def _bash_progress(output: str, number: int) -> Record:
    tail = output[-300:]
    return {
        "type": "bash_progress",
        "output": tail,
        "fullOutput": output,
        "elapsedTimeSeconds": number + 2,
        "totalLines": output.count("\n"),
    }


def _persist(conversation: Conversation, call: Record, output: str) -> str:
    """Move an output to its overflow file, which may be gone; return what stays in the record."""
    world = conversation.world
    name = f"{call['id']}.txt" if world.chance(0.8) else f"b{world.number():07x}.txt"
    recorded = world.rng.choice(MACHINES).format(conversation.session, name)
    if world.chance(0.85):
        folder = world.root / "projects" / conversation.project.directory / conversation.session / "tool-results"
        world.side_file(folder / name, (output + "\n" + output).encode())
    size = f"Output too large ({len(output) * 2 / 1024:.1f}KB). Full output saved to: {recorded}"
    preview = output[:PREVIEW_CHARS]
    return f"<persisted-output>\n{size}\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>"


def _close(conversation: Conversation) -> None:
    world = conversation.world
    if conversation.era == "old":
        return
    roll = world.rng.random()
    if roll < 0.18:
        conversation.system("turn_duration", None, durationMs=41_000, messageCount=12)
    elif roll < 0.28:
        hooks = [{"command": "hooks/stop.sh", "durationMs": 31}]
        fields: dict[str, Any] = {"hookCount": 1, "hookInfos": hooks, "hookErrors": [], "preventedContinuation": False}
        conversation.system("stop_hook_summary", None, **fields, stopReason="", hasOutput=False)
    elif roll < 0.33:
        _overloaded(conversation)
    elif roll < 0.36:
        text = f"While you were away ({world.number()}): {conversation.text.line(_AWAY)}"
        conversation.system("away_summary", text, content=text)
    elif roll < 0.385:
        text = f"Listed {world.number()} servers"
        tagged = f"<local-command-stdout>{text}</local-command-stdout>"
        conversation.system("local_command", text, "command", content=tagged)
        # A meta record right after a command would count as its expansion.
        conversation.system("turn_duration", None, durationMs=1_200, messageCount=2)
    elif roll < 0.4:
        subtype = world.rng.choice(("scheduled_task_fire", "bridge_status", "informational"))
        text = f"Notice {world.number()} of the session"
        conversation.system(subtype, text, content=text)
    elif roll < 0.415 and not conversation.quiet:
        # The text is always the same, so every one but the first of a session repeats it.
        text = "Context microcompacted"
        metadata = {"trigger": "auto", "preTokens": 90_000, "tokensSaved": 21_000, "compactedToolIds": []}
        conversation.system("microcompact_boundary", text, content=text, microcompactMetadata=metadata)
    if conversation.agent is None and world.chance(0.03):
        prompts.interrupt(conversation, tool=world.chance(0.5))


def _overloaded(conversation: Conversation) -> None:
    world = conversation.world
    message = f"Overloaded, request {world.number()}"
    error = {"status": 529, "error": {"type": "overloaded_error", "message": message}}
    for attempt in range(1 + int(world.rng.random() * 4)):
        fields: dict[str, Any] = {
            "error": error,
            "retryInMs": 500 << attempt,
            "retryAttempt": attempt + 1,
            "maxRetries": 10,
        }
        conversation.system("api_error", message, **fields)
    if world.chance(0.5):
        text = f"API Error: 529 overloaded ({world.number()})"
        message_fields = {"model": "<synthetic>", "id": world.uuid(), "role": "assistant", "type": "message"}
        block = {"type": "text", "text": text}
        fields = {"message": {**message_fields, "content": [block]}, "isApiErrorMessage": True}
        conversation.part(conversation.record("assistant", fields), "system", text)


_AWAY = ("the build of {i} finished after {n} s", "{j} was merged by a colleague", "{t} {v} was released")
