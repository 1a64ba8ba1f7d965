"""Rare things that a reader must survive: sessions without messages, unknown types, copies without original."""

from tests.corpus import agents, copies, prompts, turns, words
from tests.corpus.conversation import Conversation, Record
from tests.corpus.ledger import COPY, TITLED
from tests.corpus.session import session_path, start
from tests.corpus.story import Setting
from tests.corpus.world import Project, World, iso


def without_message(world: World, project: Project, number: int) -> None:
    """Write a session that holds no user or assistant record at all."""
    session = world.uuid()
    conversation = start(world, project, number, session_path(world, project, session), session, "progress")
    now = iso(conversation.clock)
    record: Record
    snapshot: Record
    form = number % 5
    if form in (0, 1):
        typed = f"{conversation.text.line(words.ASKS)} ({world.number()})"
        record = {"type": "queue-operation", "operation": "enqueue", "timestamp": now, "sessionId": session}
        conversation.bare({**record, "content": typed}, "prompt", typed, 2)
    if form in (1, 2):
        snapshot = {"messageId": world.uuid(), "trackedFileBackups": {}, "timestamp": now}
        record = {"type": "file-history-snapshot", "messageId": snapshot["messageId"], "isSnapshotUpdate": False}
        conversation.bare({**record, "snapshot": snapshot})
        # The summary of a session is often written into the file of another.
        title = f"{conversation.text.line(words.TITLES)} {world.number()}"
        summary = {"type": "summary", "summary": title, "leafUuid": world.notes.get("leaf", session)}
        conversation.bare(summary, "title", title, TITLED)
    if form == 3:
        conversation.system("informational", text := f"Notice {world.number()}", content=text)
    if form == 4:
        data = {"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart", "command": "x"}
        conversation.progress(data, {"id": "toolu_01" + conversation.token(22)}, "")
        conversation.ledger.noise["hook_progress"] += 1
    conversation.close()


def without_answer(world: World, project: Project, number: int) -> None:
    """Write a session that was interrupted before the first answer."""
    session = world.uuid()
    conversation = start(world, project, number, session_path(world, project, session), session)
    typed = prompts.asked(conversation)
    conversation.prompt(typed, parent=None)
    prompts.remember(conversation, typed)
    prompts.interrupt(conversation)
    conversation.close()


def without_original(world: World, project: Project, number: int, target: int) -> None:
    """Write the copy that a compaction agent made of a session whose own file is gone."""
    session = world.uuid()
    agent = f"acompact-a{world.number():016x}"
    folder = world.root / "projects" / project.directory / session / "subagents"
    conversation = start(world, project, number, folder / f"agent-{agent}.jsonl", session, "attachment")
    conversation.agent, conversation.rank, conversation.quiet = agent, COPY, True
    conversation.story.setting = Setting.ALONE
    world.ledger.agents += 1
    # Typed twice: the second is a repeat here, because every part of a copy is secondary.
    for _ in range(2):
        conversation.prompt("Please go on with the migration.", parent=conversation.last or world.uuid())
        turns.work(conversation, conversation.bytes + target // 2)
    copies.summarize(conversation)
    conversation.close()


def unknown_types(conversation: Conversation) -> None:
    """Write records of types that nobody has described yet, with and without uuid."""
    world, session = conversation.world, conversation.session
    number = world.number()
    text = f"A new kind of note, number {number}"
    record = conversation.record("quartz-note", {"payload": {"note": text}})
    conversation.part(record, "system", text)
    bare: Record = {"type": "content-replacement", "sessionId": session, "note": f"Replaced {number}"}
    conversation.bare(bare, "system", f"Replaced {number}")
    setting = {"type": "agent-setting", "agentSetting": f"reviewer-{number}", "sessionId": session}
    conversation.bare(setting, "system", f"reviewer-{number}")
    conversation.bare({"silly": f"A line without a type, {number}"}, "system", f"silly {number}")
    for kind in ("tool", "tool_result"):
        result = f"Result {number} in a record of type {kind}"
        block = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": result}
        record = conversation.record(kind, {"message": {"role": "tool", "content": [block]}})
        conversation.part(record, "tool_result", result)


def other_back_ends(conversation: Conversation) -> None:
    """Write what other models leave: server tools and results inside an assistant message, string content."""
    world = conversation.world
    values = {"url": f"https://example.org/{world.number()}"}
    call = {"type": "server_tool_use", "id": "call_" + conversation.token(12), "name": "webReader", "input": values}
    conversation.response([call])
    found = f"Page {world.number()}: {conversation.text.line(words.ANSWERS)}"
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": found}
    message = {"role": "assistant", "content": [block]}
    conversation.part(conversation.record("assistant", {"message": message}), "tool_result", found)
    said = f"Plain answer {world.number()}"
    fields = {"message": {"role": "assistant", "content": said}}
    conversation.part(conversation.record("assistant", fields), "text", said)
    skill = conversation.call("Skill", {"skill": "review"})
    below = conversation.response([skill])[0]["uuid"]
    outcome = {"success": True, "commandName": "review"}
    launched = "Launching skill: review"
    conversation.result(skill, below, launched, launched, toolUseResult=outcome)
    body = f"Base directory for this skill: /skills/review ({world.number()})"
    conversation.user([{"type": "text", "text": body}], "command", body, isMeta=True, sourceToolUseID=skill["id"])


def warm_session(world: World, project: Project, number: int) -> None:
    """Write a session that begins with a Warmup and goes on with a real prompt."""
    session = world.uuid()
    conversation = start(world, project, number, session_path(world, project, session), session, "progress")
    conversation.quiet = True
    agents.warm(conversation)
    # A prompt ends the warmup; a command would still belong to it.
    conversation.prompt(prompts.asked(conversation))
    turns.work(conversation, conversation.bytes + 30_000)
    conversation.close()
