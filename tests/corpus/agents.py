"""Agents: their transcripts in all layouts, and the traces they leave in the session that started them."""

from collections.abc import Callable
from pathlib import Path

from tests.corpus import words
from tests.corpus.conversation import Conversation, Record
from tests.corpus.ledger import COPY, SIDE
from tests.corpus.story import Setting
from tests.corpus.world import dumped

Work = Callable[[Conversation, int], None]
MAX_DEPTH = 2
CONTEXT_EVERY = 10  # so many agents begin with a reference to what the session had said
SHOWN_IN_PROGRESS = 40  # records of an agent that its parent repeats as agent_progress


def delegate(parent: Conversation, work: Work) -> None:
    """Start an agent once enough was said in the session that it is time for the next."""
    world = parent.world
    if parent.next_agent == 0:
        parent.next_agent = parent.text.size(105_000, 1.0, min(1_500_000, int(world.mb * 20_000)))
    if parent.agents_due < parent.next_agent or parent.depth >= MAX_DEPTH:
        return
    parent.agents_due -= parent.next_agent
    description = f"{parent.text.line(words.TASKS)} {world.number()}"
    prompt = parent.text.prose("ask", parent.language, parent.text.size(600, 0.8, 6_000))
    name = "Agent" if parent.era == "attachment" else "Task"
    values = {"description": description, "prompt": prompt, "subagent_type": "Explore"}
    call = parent.call(name, values)
    record = parent.response([call])[0]
    agent = identifier(parent)
    if world.chance(0.06):
        _lost(parent, agent, call, record["uuid"])
    else:
        child = _write(parent, agent, prompt, work)
        child.story.caller = record["uuid"]
        if child.path.parent.name == "subagents":
            _describe(child, values["description"], call)
        if parent.era == "progress":
            _echo(parent, child, prompt, call, record["uuid"])
    _result(parent, agent, prompt, call, record["uuid"])
    parent.next_agent = 0


def identifier(conversation: Conversation) -> str:
    """Return an agent's id: 7 digits in old versions, 17 in newer ones."""
    bits = conversation.world.rng.getrandbits(64)
    return f"{bits:016x}"[:7] if conversation.era != "attachment" else f"a{bits:016x}"


def child_of(parent: Conversation, agent: str, path: Path) -> Conversation:
    """Open an agent's transcript; it carries the session of its parent."""
    child = Conversation(parent.world, path, parent.session, parent.project, parent.version, parent.clock)
    child.agent, child.era, child.language, child.extra = agent, parent.era, parent.language, parent.extra
    child.model = "claude-haiku-4-5-20251001"
    child.depth = parent.depth + 1
    child.story.setting = Setting.AGENT if parent.agent is None else Setting.NESTED
    parent.ledger.agents += 1
    return child


def folder(parent: Conversation) -> Path:
    """Return where the agents of a session lie."""
    return parent.world.root / "projects" / parent.project.directory / parent.session / "subagents"


def warm_up(parent: Conversation) -> None:
    """Write a stub that only warms the cache: noise, but its records are links."""
    agent = identifier(parent)
    directory = folder(parent) if parent.world.chance(0.5) else folder(parent).parent.parent
    child = child_of(parent, agent, directory / f"agent-{agent}.jsonl")
    warm(child)
    child.close()


def warm(conversation: Conversation) -> None:
    """Write a Warmup prompt and its answer."""
    conversation.noise = "warmup"
    conversation.prompt("Warmup", parent=conversation.last)
    ready = f"I'm ready to help with {conversation.world.number()} things in this codebase."
    conversation.response([{"type": "text", "text": ready}])
    conversation.noise = None


def suggest(parent: Conversation) -> None:
    """Write the guess at the next prompt: noise."""
    agent = "aprompt_suggestion-" + identifier(parent)
    child = child_of(parent, agent, folder(parent) / f"agent-{agent}.jsonl")
    child.noise = "prompt_suggestion"
    child.story.setting = Setting.BELOW
    child.prompt("[SUGGESTION MODE: Suggest what the user might naturally type next.]", parent=parent.last)
    child.response([{"type": "text", "text": parent.text.line(words.ASKS)}])
    child.close()


def workflow(parent: Conversation, work: Work) -> None:
    """Write the agents of a workflow, one of them empty, and its journal."""
    run = f"wf_{parent.world.number():08x}"
    directory = folder(parent) / "workflows" / run
    call = parent.call("Workflow", {"name": "review", "args": run})
    record = parent.response([call])[0]
    journal = Conversation(
        parent.world, directory / "journal.jsonl", parent.session, parent.project, parent.version, parent.clock
    )
    for number in range(3):
        agent = identifier(parent)
        child = child_of(parent, agent, directory / f"agent-{agent}.jsonl")
        key = f"{run}:{number}"
        journal.bare({"type": "started", "key": key, "agentId": agent})
        if number < 2:
            child.prompt(f"{parent.text.line(words.TASKS)} for {run}", parent=None)
            work(child, 6_000)
            found = f"Reviewed {key}: {parent.text.line(words.ANSWERS)}"
            journal.bare({"type": "result", "key": key, "agentId": agent, "result": found}, "tool_result", found, SIDE)
        child.close()
        meta = directory / f"agent-{agent}.meta.json"
        parent.world.side_file(meta, b"" if number == 2 else dumped({"agentType": "reviewer"}))
    journal.close()
    done = f"Workflow {run} finished"
    outcome = {"status": "completed", "runId": run, "workflowName": "review", "taskType": "workflow"}
    parent.result(call, record["uuid"], done, done, toolUseResult=outcome)


def _write(parent: Conversation, agent: str, prompt: str, work: Work) -> Conversation:
    world = parent.world
    directory = folder(parent)
    old_layout = parent.era != "attachment" and world.chance(0.15)
    child = child_of(parent, agent, (directory.parent.parent if old_layout else directory) / f"agent-{agent}.jsonl")
    child.quiet = old_layout
    child.kept = []
    # A few agents start one of their own as soon as they have worked a little; the others never do.
    child.next_agent = 12_000
    child.agents_due = float(child.next_agent) if parent.ledger.agents % 4 == 0 else -float("inf")
    world.delegated += 1
    if world.delegated % CONTEXT_EVERY == 3 and not old_layout:
        context = {"type": "fork-context-ref", "agentId": agent, "parentSessionId": parent.session}
        child.bare({**context, "parentLastUuid": parent.last, "contextLength": 12})
    if parent.plant == "agent":
        parent.plant, child.plant = None, "text"
    child.prompt(prompt, parent=None)
    target = parent.next_agent
    while True:
        work(child, target)
        if child.bytes >= target:
            break
        # A nested agent sees the same caller go on: the coordinator speaks to it again.
        more = f"Go on with step {world.number()}: {parent.text.line(words.TASKS)}"
        child.prompt(more)
    child.close()
    parent.clock = max(parent.clock, child.clock)
    return child


def _describe(child: Conversation, description: str, call: Record) -> None:
    world = child.world
    meta = child.path.with_suffix(".meta.json")
    roll = world.rng.random()
    if roll < 0.05:
        world.side_file(meta, b"")
    elif roll < 0.25:
        world.side_file(meta, dumped({"agentType": "Explore"}))
    elif roll < 0.9:
        fields: Record = {"agentType": "Explore", "description": description}
        if roll > 0.6:
            fields.update({"toolUseId": call["id"], "spawnDepth": child.depth})
        world.side_file(meta, dumped(fields))
        child.ledger.part(child.session, "title", description, SIDE)


def _echo(parent: Conversation, child: Conversation, prompt: str, call: Record, below: str) -> None:
    """Repeat the first records of an agent as progress of the call that started it."""
    for record in (child.kept or [])[:SHOWN_IN_PROGRESS]:
        parts = child.kept_parts.get(record["uuid"], [])
        # A copy in progress loses the flag that makes an API error a system part.
        if len(parts) != 1 or "isApiErrorMessage" in record:
            continue
        message = dict(record["message"])
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
        inner = {"type": record["type"], "message": message, "uuid": record["uuid"], "timestamp": record["timestamp"]}
        _progress(parent, child.agent or "", inner, prompt, call, below, parts[0])
    child.kept = None
    child.kept_parts.clear()


def _lost(parent: Conversation, agent: str, call: Record, below: str) -> None:
    """Leave progress of an agent whose own transcript is gone: it is all there is of it."""
    if parent.era == "progress":
        said = f"{parent.text.line(words.ANSWERS)} ({parent.world.number()})"
        inner = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}}
        _progress(parent, agent, inner, "", call, below, ("text", said))


def _progress(
    parent: Conversation, agent: str, inner: Record, prompt: str, call: Record, below: str, part: tuple[str, str]
) -> None:
    data = {"type": "agent_progress", "message": inner, "prompt": prompt, "agentId": agent, "normalizedMessages": []}
    record = parent.progress(data, call, below)
    parent.part(record, part[0], part[1], COPY)


def _result(parent: Conversation, agent: str, prompt: str, call: Record, below: str) -> None:
    world = parent.world
    if world.chance(0.15):
        text = f"Async agent launched successfully.\nagentId: {agent}"
        outcome: Record = {"isAsync": True, "status": "async_launched", "agentId": agent, "prompt": prompt}
        content = [{"type": "text", "text": text}]
    else:
        report = parent.text.prose("answer", parent.language, parent.text.size(1_500, 0.6, 9_000))
        content = [{"type": "text", "text": report}, {"type": "text", "text": f"agentId: {agent}"}]
        text = f"{report}\nagentId: {agent}"
        outcome = {"status": "completed", "prompt": prompt, "agentId": agent, "content": content[:1]}
        outcome.update({"totalDurationMs": 60_000, "totalTokens": 31_000, "totalToolUseCount": 9})
    parent.result(call, below, content, text, toolUseResult=outcome, sourceToolAssistantUUID=below)
