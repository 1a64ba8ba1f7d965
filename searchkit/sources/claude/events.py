"""How records read that are no messages: attachments, system events, progress, queue and state; and their version."""

from collections.abc import Callable, Iterator

import msgspec

from searchkit.sources.claude.messages import assistant_blocks, classify, is_slash_command, user_blocks
from searchkit.sources.json_values import MOST_ID, amount, count, mapping, milliseconds, strings, text
from searchkit.types import Block, CostState, Kind, Reading, Role

Fields = dict[str, object]

# A client that is used for months has some ten models.
MOST_MODELS = 100
_ENCODE = msgspec.json.Encoder().encode

# Titles and other state of a session, by the field that holds the words. The kind is None where
# the value is worth keeping as a fact but nobody would search for it.
STATE: dict[str, tuple[str, Kind | None]] = {
    "summary": ("summary", Kind.TITLE),
    "custom-title": ("customTitle", Kind.TITLE),
    "ai-title": ("aiTitle", Kind.TITLE),
    "agent-name": ("agentName", Kind.TITLE),
    "tag": ("tag", Kind.TITLE),
    # A copy of what was typed, often cut.
    "last-prompt": ("lastPrompt", Kind.HISTORY),
    "mode": ("mode", None),
    "permission-mode": ("permissionMode", None),
    "agent-setting": ("agentSetting", Kind.SYSTEM),
    "agent-color": ("agentColor", None),
}
# Copies of what the client sends to the model: all of it stands elsewhere in the transcript, under its author.
REQUESTS = frozenset({"api-request", "api-request-shape", "api-request-blob"})
# Types that hold bookkeeping and no words.
SILENT = (
    REQUESTS
    | {"bridge-session", "file-history-snapshot", "file-history-delta", "fork-context-ref", "started", "launched"}
    | {"atis-latch", "tools-used", "cost-state", "relocated"}
)
# Types that are described somewhere but that no transcript seen holds: known, and read by their strings.
UNSEEN = frozenset({"attribution-snapshot", "content-replacement", "marble-origami-commit", "marble-origami-snapshot"})
# Attachments that tell the model about its surroundings, in nearly the same words in every session: each distinct
# text of them is kept once, with all the sessions that it is in.
LISTINGS = frozenset(
    {"prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta", "deferred_tools_record"}
    | {"mcp_instructions_delta", "environment", "instructions", "model", "session_context", "date", "date_change"}
    | {"remote_session_change", "silent_turn_reminder", "total_tokens_reminder"}
    | {"auto_mode", "auto_mode_exit"}
)
# Where an attachment keeps its words, most telling first; other attachments give all their strings.
_HOOK_KEYS = ("content", "stdout", "stderr", "blockingError", "response")
_ATTACHMENT_KEYS: dict[str, tuple[str, ...]] = {
    "file": ("displayPath", "filename", "content"),
    "directory": ("displayPath", "path", "content"),
    "nested_memory": ("displayPath", "path", "content"),
    "edited_text_file": ("filename", "snippet"),
    # The names and digests beside this repeat it.
    "skill_listing": ("content",),
}


def cost_state(data: Fields, time: int | None) -> str | None:
    """Read what the client had counted for the session so far, as JSON of a `CostState`; None where it says no cost."""
    usd = amount(data.get("totalCostUSD"))
    if usd is None:
        return None
    used = {name: mapping(usage) for name, usage in mapping(data.get("modelUsage")).items()}
    named = sorted(name for name in used if len(name) <= MOST_ID)[:MOST_MODELS]
    models = {name: spent for name in named if (spent := amount(used[name].get("costUSD")))}
    state = CostState(
        usd=usd,
        started=milliseconds(count(data.get("startTime"))),
        time=time,
        api_ms=count(data.get("totalAPIDuration")),
        duration_ms=count(data.get("totalDuration")),
        output=sum(count(usage.get("outputTokens")) for usage in used.values()),
        models=models,
        has_unknown_model=data.get("hasUnknownModelCost") is True,
    )
    return _ENCODE(state).decode()


def turn_duration(uuid: str, data: Fields) -> str | None:
    """Read how long a turn took: milliseconds and the id of the record that says so."""
    passed = count(data.get("durationMs"))
    return f"{passed} {uuid}" if passed else None


def attachment_blocks(attachment: Fields) -> Iterator[Block]:
    """Read an attachment: what was typed while the assistant worked, or what was added for it."""
    attachment_type = text(attachment.get("type")) or ""
    if attachment_type == "queued_command":
        origin = text(mapping(attachment.get("origin")).get("kind"))
        is_meta = attachment.get("isMeta") is True or attachment.get("commandMode") not in (None, "prompt")
        prompt = attachment.get("prompt")
        said = prompt if isinstance(prompt, str) else "\n".join(block.text for block, _ in user_blocks(prompt))
        words = classify(said, is_meta=is_meta, origin=origin)
        yield Block(number=0, kind=words.kind, role=words.role, text=words.text)
        return
    keys = _ATTACHMENT_KEYS.get(attachment_type, _HOOK_KEYS if "hook" in attachment_type else None)
    shown = strings(attachment if keys is None else [attachment.get(key) for key in keys])
    is_error = attachment_type in ("hook_blocking_error", "hook_non_blocking_error")
    yield Block(number=0, kind=Kind.ATTACHMENT, role=Role.SYSTEM, text=shown, is_error=is_error)


def system_blocks(data: Fields) -> Iterator[Block]:
    """Read a system event: its content, or the strings of the error it reports."""
    said = strings([data.get(key) for key in ("content", "error", "cause", "hookErrors", "stopReason", "url")])
    message = mapping(data.get("message")).get("content")
    said = "\n".join(filter(None, (said, strings(message), strings(data.get("hookAdditionalContext")))))
    is_error = data.get("level") == "error" or data.get("subtype") == "api_error"
    if data.get("subtype") == "local_command":
        words = classify(said)
        kind = Kind.COMMAND if words.kind is Kind.PROMPT else words.kind
        yield Block(number=0, kind=kind, role=words.role, text=words.text, is_error=is_error)
    else:
        yield Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=said, is_error=is_error)


def agent_progress_blocks(progress: Fields) -> Iterator[Block]:
    """Read the message of an agent that its parent's transcript repeats as progress."""
    record = mapping(progress.get("message"))
    content = mapping(record.get("message")).get("content")
    yield from assistant_blocks(content) if record.get("type") == "assistant" else _classified(content)


def _classified(content: object) -> Iterator[Block]:
    """Read a user's message by itself: only its tags tell whose words it holds."""
    for block, is_open in user_blocks(content):
        words = classify(block.text) if is_open else None
        yield block if words is None else Block(number=block.number, kind=words.kind, role=words.role, text=words.text)


def progress_blocks(progress: Fields, call: str | None) -> Iterator[Block]:
    """Read what a running call has printed so far."""
    said = text(progress.get("fullOutput")) or text(progress.get("output")) or strings(progress)
    yield Block(number=0, kind=Kind.TOOL_RESULT, role=Role.USER, text=said, call=call)


def _queue_blocks(data: Fields) -> Iterator[Block]:
    words = classify(text(data.get("content")) or "")
    # Here a command is still as it was typed; in the conversation it has tags.
    is_command = words.kind is Kind.PROMPT and is_slash_command(words.text)
    yield Block(number=0, kind=Kind.COMMAND if is_command else words.kind, role=words.role, text=words.text)


def _link_blocks(data: Fields) -> Iterator[Block]:
    said = strings({key: value for key, value in data.items() if key != "type"})
    number = data.get("prNumber")
    shown = f"#{number}\n{said}" if isinstance(number, int) else said
    yield Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=shown)


def _journal_blocks(data: Fields) -> Iterator[Block]:
    yield Block(number=0, kind=Kind.TOOL_RESULT, role=Role.USER, text=strings(data.get("result")))


def _unknown_blocks(data: Fields) -> Iterator[Block]:
    """Read a type nobody has described yet: a message as a message, anything else by its strings.

    Nobody knows whose words it holds, so they are never what a person typed.
    """
    message = mapping(data.get("message"))
    if "content" in message:
        content = message.get("content")
        for block in assistant_blocks(content) if message.get("role") == "assistant" else _classified(content):
            is_typed = block.kind in (Kind.PROMPT, Kind.COMMAND)
            yield msgspec.structs.replace(block, kind=Kind.SYSTEM, role=Role.SYSTEM) if is_typed else block
        return
    envelope = ("cwd", "version", "gitBranch", "parentUuid", "userType", "entrypoint", "slug", "requestId")
    said = strings({key: value for key, value in data.items() if key not in envelope})
    yield Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=said)


def event_blocks(record_type: str, data: Fields) -> Iterator[Block]:
    """Read any record that is neither a message nor handled by name above."""
    if record_type in SILENT:
        return iter(())
    if record_type in STATE:
        field, kind = STATE[record_type]
        role = Role.USER if kind is Kind.HISTORY else Role.SYSTEM
        said = text(data.get(field))
        return iter([Block(number=0, kind=kind, role=role, text=said)] if kind and said else [])
    return _READERS.get(record_type, _unknown_blocks)(data)


_READERS: dict[str, Callable[[Fields], Iterator[Block]]] = {
    "queue-operation": _queue_blocks,
    "pr-link": _link_blocks,
    "frame-link": _link_blocks,
    "worktree-state": _link_blocks,
    "result": _journal_blocks,
}


# The version of this reading, and what it knows of records that an earlier one read otherwise.

# Raised whenever the same bytes make other parts, facts or links.
READING = Reading(
    version=3,
    # Copies of requests were read as messages.
    silent=REQUESTS,
    # Copies of prompts were read as prompts.
    kinds={"last-prompt": Kind.HISTORY},
    # Messages in records of unknown types were read as a person's.
    typing=frozenset({"user", "attachment", "queue-operation", "progress", "system"}),
)
