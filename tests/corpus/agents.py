"""Agents: their transcripts in all layouts, and the traces they leave in the session that started them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.corpus import words
from tests.corpus.conversation import Conversation, Record
from tests.corpus.ledger import COPY, SIDE
from tests.corpus.story import Setting, Story
from tests.corpus.world import dumped

Work = Callable[[Conversation, int], None]
MAX_DEPTH = 2
PARALLEL = 0.15  # of the responses that start agents, those that start two
CONTEXT_EVERY = 10  # so many agents begin with a reference to what the session had said
SHOWN_IN_PROGRESS = 40  # records of an agent that its parent repeats as agent_progress


@dataclass(slots=True)
class Errand:
    """An agent to be started, and the call that starts it."""

    agent: str
    call: Record

    @property
    def prompt(self) -> str:
        """What the agent is asked."""
        return str(self.call["input"]["prompt"])


def delegate(parent: Conversation, work: Work) -> None:
    """Start an agent once enough was said in the session that it is time for the next."""
    world = parent.world
    if parent.next_agent == 0:
        parent.next_agent = parent.text.size(105_000, 1.0, min(1_500_000, int(world.mb * 20_000)))
    if parent.agents_due < parent.next_agent or parent.depth >= MAX_DEPTH:
        return
    errands = [_errand(parent) for _ in range(2 if world.chance(PARALLEL) else 1)]
    parent.agents_due -= parent.next_agent * len(errands)
    manner = world.rng.choice(("parallel", "reordered")) if len(errands) > 1 else ""
    started = list(zip(errands, parent.response([errand.call for errand in errands], manner), strict=True))
    told = [_run(parent, errand, record["uuid"], work) for errand, record in started]
    for (errand, record), child in list(zip(started, told, strict=True))[:: -1 if manner == "reordered" else 1]:
        names_agent = _result(parent, errand, record["uuid"])
        if child is not None and names_agent:
            child.caller = record["uuid"]
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
        # The result of the call names the run, so that its agents hang from the call.
        child.story.caller = record["uuid"]
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


def _errand(parent: Conversation) -> Errand:
    description = f"{parent.text.line(words.TASKS)} {parent.world.number()}"
    prompt = parent.text.prose("ask", parent.language, parent.text.size(600, 0.8, 6_000))
    name = "Agent" if parent.era == "attachment" else "Task"
    values = {"description": description, "prompt": prompt, "subagent_type": "Explore"}
    return Errand(identifier(parent), parent.call(name, values))


def _run(parent: Conversation, errand: Errand, below: str, work: Work) -> Story | None:
    """Write an agent's transcript and what tells of it beside the call and its result; None where it is gone."""
    if parent.world.chance(0.06):
        _lost(parent, errand, below)
        return None
    child = _write(parent, errand, work)
    names_call = child.path.parent.name == "subagents" and _describe(child, errand.call)
    if parent.era == "progress" and _echo(parent, child, errand, below):
        names_call = True
    child.story.caller = below if names_call else None
    return child.story


def _write(parent: Conversation, errand: Errand, work: Work) -> Conversation:
    world, agent = parent.world, errand.agent
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
    child.prompt(errand.prompt, parent=None)
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


def _describe(child: Conversation, call: Record) -> bool:
    """Write the side file of an agent; say whether it names the call."""
    world = child.world
    meta = child.path.with_suffix(".meta.json")
    roll = world.rng.random()
    if roll < 0.05:
        world.side_file(meta, b"")
    elif roll < 0.25:
        world.side_file(meta, dumped({"agentType": "Explore"}))
    elif roll < 0.9:
        description = call["input"]["description"]
        fields: Record = {"agentType": "Explore", "description": description}
        if roll > 0.6:
            fields.update({"toolUseId": call["id"], "spawnDepth": child.depth})
        world.side_file(meta, dumped(fields))
        child.ledger.part(child.session, "title", description, SIDE)
    return 0.6 < roll < 0.9


def _echo(parent: Conversation, child: Conversation, errand: Errand, below: str) -> bool:
    """Repeat the first records of an agent as progress of the call that started it; say whether there were any."""
    echoes = 0
    for record in (child.kept or [])[:SHOWN_IN_PROGRESS]:
        parts = child.kept_parts.get(record["uuid"], [])
        # A copy in progress loses the flag that makes an API error a system part.
        if len(parts) != 1 or "isApiErrorMessage" in record:
            continue
        message = dict(record["message"])
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
        inner = {"type": record["type"], "message": message, "uuid": record["uuid"], "timestamp": record["timestamp"]}
        _progress(parent, errand, inner, below, parts[0])
        echoes += 1
    child.kept = None
    child.kept_parts.clear()
    return echoes > 0


def _lost(parent: Conversation, errand: Errand, below: str) -> None:
    """Leave progress of an agent whose own transcript is gone: it is all there is of it."""
    if parent.era == "progress":
        said = f"{parent.text.line(words.ANSWERS)} ({parent.world.number()})"
        inner = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}}
        _progress(parent, errand, inner, below, ("text", said))


def _progress(parent: Conversation, errand: Errand, inner: Record, below: str, part: tuple[str, str]) -> None:
    data = {"type": "agent_progress", "message": inner, "prompt": errand.prompt, "agentId": errand.agent}
    record = parent.progress({**data, "normalizedMessages": []}, errand.call, below)
    parent.part(record, part[0], part[1], COPY)


def _result(parent: Conversation, errand: Errand, below: str) -> bool:
    """Write the result of an agent's call; say whether it names the agent, in its text or beside it."""
    world, agent = parent.world, errand.agent
    roll = world.rng.random()
    extra: Record = {"sourceToolAssistantUUID": below}
    if roll < 0.1:
        failure = f"Error: the agent stopped after {world.number()} steps"
        parent.result(errand.call, below, failure, failure, is_error=True, toolUseResult=failure, **extra)
        return False
    outcome: Record = {"status": "completed", "prompt": errand.prompt, "agentId": agent}
    if roll < 0.25:
        text = f"Async agent launched successfully.\nagentId: {agent}"
        outcome.update({"isAsync": True, "status": "async_launched"})
        parent.result(errand.call, below, [{"type": "text", "text": text}], text, toolUseResult=outcome, **extra)
        return True
    report = parent.text.prose("answer", parent.language, parent.text.size(1_500, 0.6, 9_000))
    content = [{"type": "text", "text": report}]
    outcome.update({"content": content, "totalDurationMs": 60_000, "totalTokens": 31_000, "totalToolUseCount": 9})
    text = report
    if roll < 0.35:
        # As seven of the measured results: neither names the agent.
        del outcome["agentId"]
    elif roll < 0.9:
        text = f"{report}\nagentId: {agent}"
        content = [*content, {"type": "text", "text": f"agentId: {agent}"}]
    if not 0.8 < roll < 0.9:
        # An agent's own transcript seldom has the outcome; then the text alone names the agent.
        extra["toolUseResult"] = outcome
    parent.result(errand.call, below, content, text, **extra)
    return roll >= 0.35
