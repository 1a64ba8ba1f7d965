"""Whole sessions: opening lines, turns until the size is reached, closing lines, and their damage."""

from pathlib import Path
from typing import Any

from tests.corpus import agents, attachments, branches, copies, prompts, turns, words
from tests.corpus.conversation import Conversation, Record
from tests.corpus.ledger import TITLED
from tests.corpus.world import START_MS, Project, World, dumped, iso

SESSION_GAP_MS = 1_700_000
COMPACT_EVERY_BYTES = 1_100_000  # about where 155,000 tokens of context are reached
MODELS = ("claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-sonnet-4-6", "glm-4.7", "deepseek-v4-pro")
PLANTED_KINDS = ("text", "tool_result", "thinking", "prompt", "tool_call", "agent")
ASIAN, EUROPEAN = ("zh", "ja", "ko"), ("fr", "es", "ru")
ASIAN_SHARE, EUROPEAN_SHARE = 0.07, 0.04  # of the prose; names in Latin letters make it 6 % of the letters
PROGRESS_SHARE = 0.47  # of the bytes: versions that write progress records, FORMAT section 1


def start(world: World, project: Project, number: int, path: Path, session: str, era: str = "") -> Conversation:
    """Open the transcript of a new session, with a version that suits its era."""
    rng = world.rng
    begin = START_MS + number * SESSION_GAP_MS % 28_000_000_000
    era = era or _era(world)
    version = {
        "old": f"1.0.{int(rng.random() * 120)}",
        "progress": f"2.1.{9 + int(rng.random() * 72)}",
        "attachment": f"2.1.{90 + int(rng.random() * 142)}",
    }[era]
    conversation = Conversation(world, path, session, project, version, begin)
    conversation.era = era
    conversation.model = rng.choice(MODELS)
    conversation.language = _language(world)
    conversation.extra = {"userType": "external"}
    if era != "old":
        conversation.extra["slug"] = "gentle-" + rng.choice(words.VERBS) + "ing-" + rng.choice(words.NOUNS)
    if era == "attachment":
        conversation.extra["entrypoint"] = rng.choice(("cli", "claude-vscode"))
    world.ledger.sessions += 1
    return conversation


def session_path(world: World, project: Project, session: str) -> Path:
    return world.root / "projects" / project.directory / f"{session}.jsonl"


def write_session(conversation: Conversation, target: int, compacting: bool = False) -> None:
    """Write a session of about the target size and leave it open."""
    open_session(conversation)
    next_compaction = min(COMPACT_EVERY_BYTES, target // 2) if compacting else COMPACT_EVERY_BYTES
    while True:
        branches.branch(conversation, turns.work)
        turns.turn(conversation)
        _between(conversation)
        if conversation.bytes >= target:
            break
        if conversation.bytes > next_compaction and conversation.era != "old":
            copies.compact(conversation, copy=conversation.kept is not None)
            next_compaction = conversation.bytes + COMPACT_EVERY_BYTES


def open_session(conversation: Conversation) -> None:
    """Write the lines that come before the first prompt."""
    session = conversation.session
    if conversation.era == "old":
        return
    _snapshot(conversation)
    if conversation.era == "attachment":
        conversation.bare({"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": session})
        conversation.bare({"type": "mode", "mode": "normal", "sessionId": session})
        attachments.announce(conversation)


def close_session(conversation: Conversation) -> str | None:
    """Write the lines that come after the last turn; return the title, if it was given one."""
    world, session = conversation.world, conversation.session
    title = None
    if conversation.era == "old":
        if world.chance(0.6):
            title = f"{conversation.text.line(words.TITLES)} {world.number()}"
            summary = {"type": "summary", "summary": title, "leafUuid": conversation.last}
            conversation.bare(summary, "title", title, TITLED)
        return title
    ending = branches.leave(conversation)
    prompts.last_prompt(conversation, ending)
    if world.chance(0.6):
        title = f"{conversation.text.line(words.TITLES)} {world.number()}"
        name = {"type": "ai-title", "aiTitle": title, "sessionId": session}
        for _ in range(1 + int(world.rng.random() * 3)):
            conversation.bare(name, "title", title, TITLED)
        if world.chance(0.3):
            # Either the same words again, which is a repeat, or the person's own.
            own = title if world.chance(0.3) else f"{conversation.text.line(words.TITLES)} {world.number()}"
            conversation.bare({"type": "custom-title", "customTitle": own, "sessionId": session}, "title", own, TITLED)
            conversation.bare({"type": "agent-name", "agentName": own, "sessionId": session}, "title", own, TITLED)
    if world.chance(0.3):
        _links(conversation)
    prompts.last_prompt(conversation, ending)
    return title


def damage(conversation: Conversation) -> None:
    """Write one line as a crash or another program would leave it."""
    world = conversation.world
    roll = world.rng.random()
    if roll < 0.5:
        lost = {"uuid": world.uuid(), "timestamp": iso(conversation.clock), "message": {"content": "lost head"}}
        conversation.torn(dumped(lost)[20:])
    elif roll < 0.7:
        conversation.torn(world.rng.choice((b"17", b'"a string"', b'["a", "list"]', b"null")))
    elif roll < 0.85:
        conversation.raw(b"\n")
    elif conversation.kept is None:
        halve_surrogate(conversation)


def halve_surrogate(conversation: Conversation) -> None:
    """Write half of a surrogate pair, which json accepts and orjson does not."""
    text = f"Half an emoji @@ in message {conversation.world.number()}"
    conversation.response([{"type": "text", "text": text}])
    conversation.replace(b"@@", b"\\ud83d")


def _era(world: World) -> str:
    """Choose the era that lags behind its share, since a single large session would tip a choice by chance."""
    if world.chance(0.04):
        return "old"
    written = world.era_bytes
    lagging = written["progress"] <= PROGRESS_SHARE * sum(written.values())
    return "progress" if lagging else "attachment"


def _language(world: World) -> str:
    said = world.text.said
    total = sum(said.values())
    if sum(said[name] for name in ASIAN) <= ASIAN_SHARE * total:
        return world.rng.choice(ASIAN)
    if sum(said[name] for name in EUROPEAN) <= EUROPEAN_SHARE * total:
        return world.rng.choice(EUROPEAN)
    return "en"


def _between(conversation: Conversation) -> None:
    world = conversation.world
    if conversation.era == "old":
        return
    roll = world.rng.random()
    if roll < 0.5:
        _snapshot(conversation)
    elif roll < 0.6:
        prompts.last_prompt(conversation)
    elif roll < 0.62:
        damage(conversation)
    elif roll < 0.64:
        _twice(conversation)
    elif roll < 0.65 and not conversation.quiet:
        agents.suggest(conversation)
    elif roll < 0.67:
        bridge = {"type": "bridge-session", "sessionId": conversation.session, "bridgeSessionId": "cse_01"}
        conversation.bare({**bridge, "lastSequenceNum": world.number()})
    elif roll < 0.83:
        prompts.announce_task(conversation)
    if conversation.era == "attachment" and world.chance(0.06):
        prompts.queue(conversation)
        turns.work(conversation, conversation.bytes + 9_000)


def _snapshot(conversation: Conversation) -> None:
    """Write which files were backed up; only files that a tool has touched are named."""
    world = conversation.world
    touched = conversation.project.touched[-40:]
    chosen = world.rng.sample(touched, min(len(touched), int(world.rng.random() * 13)))
    now = iso(conversation.clock)
    files = {
        path: {"backupFileName": f"{conversation.token(16)}@v2", "version": 2, "backupTime": now} for path in chosen
    }
    message = conversation.last or world.uuid()
    snapshot: Record = {"messageId": message, "trackedFileBackups": files, "timestamp": now}
    record: Record = {"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot}
    conversation.bare({**record, "isSnapshotUpdate": world.chance(0.3)})
    if chosen and world.chance(0.1):
        delta = {"type": "file-history-delta", "messageId": message, "snapshotMessageId": message}
        conversation.bare({**delta, "trackingPath": chosen[0], "backup": files[chosen[0]], "timestamp": now})


def _twice(conversation: Conversation) -> None:
    """Write a uuid twice: the same line, or another text, which makes another part."""
    world = conversation.world
    text = f"Draft {world.number()}: {conversation.text.line(words.ANSWERS)}"
    parent = conversation.last
    record = conversation.response([{"type": "text", "text": text}])[0]
    message: Record = dict(record["message"])
    if world.chance(0.7):
        text = f"Final {world.number()}: {conversation.text.line(words.ANSWERS)}"
        message["content"] = [{"type": "text", "text": text}]
        again = conversation.record("assistant", {"message": message}, parent, record["uuid"])
        conversation.part(again, "text", text)
    else:
        conversation.write(dumped(record))


def _links(conversation: Conversation) -> None:
    world, session = conversation.world, conversation.session
    number = world.number()
    conversation.clock += 5
    now = iso(conversation.clock)
    url = f"https://github.com/acme/app/pull/{number}"
    link: dict[str, Any] = {"type": "pr-link", "sessionId": session, "prNumber": number, "prUrl": url}
    conversation.bare({**link, "prRepository": "acme/app", "timestamp": now}, "system", url)
    if world.chance(0.5):
        frame = {"type": "frame-link", "sessionId": session, "path": "/frames/1", "frameUrl": f"{url}/frame"}
        conversation.bare({**frame, "title": f"Frame {number}", "timestamp": now}, "system", f"Frame {number}")
    if world.chance(0.5):
        tree = {"worktreeName": f"tree-{number}", "worktreeBranch": f"feature-{number}"}
        state = {"type": "worktree-state", "worktreeSession": tree, "sessionId": session}
        conversation.bare(state, "system", f"tree-{number}")
