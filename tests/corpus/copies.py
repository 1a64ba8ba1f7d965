"""Copies: compaction with its copy agents, side questions, forked sessions and backups."""

import os
import shutil
from pathlib import Path

from tests.corpus import branches, prompts
from tests.corpus.agents import child_of, folder, identifier
from tests.corpus.conversation import RECENT, Conversation, Record
from tests.corpus.ledger import COPY
from tests.corpus.story import Setting
from tests.corpus.world import dumped

INSTRUCTION = (
    "Your task is to create a detailed summary of the conversation so far, paying close attention to the user's "
    "explicit requests and your previous actions."
)
NAMED = ("last", "missing", "recent", "missing", "recent")  # by a boundary; FORMAT section 6 has 92 of 230 missing
CROSSING_EVERY = 6


def compact(conversation: Conversation, copy: bool) -> None:
    """Write a compaction: the agent that made the summary, the boundary, and the summary."""
    world = conversation.world
    if conversation.line_before is None:
        # A dangling logical parent falls back to the line before, which must therefore have a uuid.
        conversation.system("turn_duration", None, durationMs=9_000, messageCount=4)
    if copy or world.chance(0.5):
        _compacting_agent(conversation, copy)
    logical = _logical_parent(conversation)
    text = "Conversation compacted"
    fields: Record = {
        "subtype": "compact_boundary",
        "content": text,
        "isMeta": False,
        "level": "info",
        "logicalParentUuid": logical,
        "compactMetadata": {"trigger": "auto", "preTokens": 155_000},
    }
    boundary = conversation.record("system", fields, parent=None)
    conversation.story.say(boundary["uuid"], "boundary")
    conversation.part(boundary, "system", text, 1)
    summary = (
        "This session is being continued from a previous conversation that ran out of context.\n\n"
        + conversation.text.prose("answer", conversation.language, conversation.text.size(7_000, 0.4, 20_000))
    )
    conversation.user(summary, "summary", summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    if conversation.kept is not None:
        conversation.kept = [boundary, conversation.kept[-1]]
        conversation.marks.clear()


def side_question(conversation: Conversation) -> None:
    """Write a copy of the conversation with one question at its end."""
    agent = "aside_question-" + identifier(conversation)
    child = _copy(conversation, agent)
    question = f"By the way, question {conversation.world.number()}: {prompts.asked(conversation)}"
    child.prompt(question)
    reply = conversation.text.prose("answer", conversation.language, 300)
    child.response([{"type": "text", "text": reply}])
    child.close()


def fork(source: Conversation, target: Path, session: str) -> Conversation:
    """Open a session that begins with the records of another one up to a turn, its own id on them."""
    world = source.world
    kept = source.kept or []
    forked = Conversation(world, target, session, source.project, source.version, source.clock + 3_600_000)
    world.ledger.sessions += 1
    forked.era, forked.language, forked.extra, forked.quiet = source.era, source.language, source.extra, True
    marked, rewritten = world.chance(0.4), world.chance(0.85)
    mark = source.marks[-1] if len(source.marks) > 1 else source.mark()
    for record in kept[: mark.kept]:
        copied = dict(record)
        if rewritten or world.chance(0.7):
            copied["sessionId"] = session
        if marked:
            copied["forkedFrom"] = {"sessionId": source.session, "messageUuid": record["uuid"]}
        forked.write(dumped(copied))
        source.story.lent[record["uuid"]] = session
        for kind, text in source.kept_parts.get(record["uuid"], []):
            world.ledger.hold(session, kind, text)
    forked.last = forked.line_before = mark.last
    forked.story = source.story.branch_off(mark, session, Setting.FORK)
    source.story.rival = None if marked else forked.story
    return forked


def back_up(source: Conversation, target: Path) -> None:
    """Copy a whole closed transcript; its records are the same ones in another place."""
    shutil.copyfile(source.path, source.world.folder(target))
    os.utime(target, (source.age, source.age))
    ledger = source.ledger
    ledger.files += 1
    ledger.lines += source.lines
    ledger.torn += source.torn_lines
    ledger.bytes += source.bytes


def summarize(child: Conversation) -> None:
    """Write what ends a compaction agent: its instruction and its answer."""
    child.prompt(INSTRUCTION, parent=child.last)
    tag = child.world.rng.choice(("analysis", "summary"))
    answer = f"<{tag}>\n{child.text.prose('answer', child.language, 3_000)}\n</{tag}> {child.world.number()}"
    record = child.response([{"type": "thinking", "thinking": "Let me go through it.", "signature": "c2ln"}])[0]
    message = {**record["message"], "content": [{"type": "text", "text": answer}]}
    final = child.record("assistant", {"message": message, "requestId": record["requestId"]})
    child.part(final, "summary", answer)


def _logical_parent(conversation: Conversation) -> str | None:
    """Return what a boundary names: the last record, one shortly before it, or one that is not there."""
    world = conversation.world
    abandoned = branches.abandoned(conversation)
    world.boundaries += 1
    if abandoned is not None and world.boundaries > world.crossings * CROSSING_EVERY:
        # The line before the boundary belongs to what was taken back, so that only the name leads on.
        world.crossings += 1
        named = conversation.last
        conversation.last = abandoned.last
        conversation.system("turn_duration", None, durationMs=9_000, messageCount=4)
        conversation.last = named
        abandoned.line = conversation.lines
        return named
    form = NAMED[(world.boundaries - world.crossings) % len(NAMED)]
    if form == "recent" and len(conversation.recent) == RECENT:
        return conversation.recent[0]
    return world.uuid() if form == "missing" else conversation.last


def _compacting_agent(conversation: Conversation, copy: bool) -> None:
    agent = "acompact-" + identifier(conversation)
    if copy:
        child = _copy(conversation, agent)
    else:
        child = child_of(conversation, agent, folder(conversation) / f"agent-{agent}.jsonl")
        child.rank = COPY
        child.last = conversation.last
        child.story.setting = Setting.BELOW
    summarize(child)
    child.close()


def _copy(conversation: Conversation, agent: str) -> Conversation:
    child = child_of(conversation, agent, folder(conversation) / f"agent-{agent}.jsonl")
    child.rank = COPY
    for record in conversation.kept or []:
        child.write(dumped({**record, "agentId": agent, "isSidechain": True}))
    child.last = conversation.last
    child.story = conversation.story.branch_off(conversation.mark(), conversation.session, Setting.COPY)
    return child
