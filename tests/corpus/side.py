"""Side files: history, todos, tasks, plans, memory, overflow that nothing names, and the sessions index."""

from tests.corpus import listings, prompts, words
from tests.corpus.conversation import Conversation
from tests.corpus.ledger import SIDE
from tests.corpus.world import MAX_INDEXED, Project, World, dumped, iso

EMPTY_TODOS = 0.92  # FORMAT section 9
KEPT_FULL = 200


def write_side_files(conversation: Conversation, title: str | None) -> None:
    """Write what belongs to one session beside its transcript."""
    world, session = conversation.world, conversation.session
    if world.chance(0.7):
        _todos(world, session, empty=world.chance(EMPTY_TODOS))
    if world.chance(0.06):
        _tasks(world, session)
    if world.chance(0.04) and not conversation.quiet:
        _overflow(conversation)
    if world.chance(0.5) and not conversation.project.is_twin and len(conversation.project.index) < MAX_INDEXED:
        _index(conversation, title)


def gone_session(conversation: Conversation) -> None:
    """Leave the traces of a session whose transcript was deleted."""
    world = conversation.world
    session = world.uuid()
    world.ledger.sessions_gone += 1
    for _ in range(1 + int(world.rng.random() * 3)):
        conversation.clock += 1
        prompts.write_history(conversation, session, prompts.asked(conversation), {})
    if world.chance(0.3):
        _todos(world, session, empty=False)
    if world.chance(0.3):
        _tasks(world, session)


def old_history(conversation: Conversation) -> None:
    """Write a line of history from before sessions were named in it."""
    display = f"{prompts.asked(conversation)} ({conversation.world.number()})"
    prompts.write_history(conversation, None, display, {})


def write_project_files(world: World, project: Project) -> None:
    """Write the memory, a plan and the sessions index of a project."""
    if project.is_twin:
        # On a file system that ignores case its directory is that of the other project.
        return
    text, ledger = world.text, world.ledger
    folder = world.root / "projects" / project.directory
    for name in ("MEMORY.md", "testing.md"):
        note = f"# Notes {world.number()}\n\n{text.prose('answer', 'en', 600)}\n"
        world.side_file(folder / "memory" / name, note.encode())
        ledger.part("", "memory", note)
    plan = f"{text.line((listings.PLAN,))}\nRevision {world.number()}\n"
    world.side_file(world.root / "plans" / f"quiet-plan-{world.number()}.md", plan.encode())
    ledger.part("", "plan", plan)
    if project.index:
        index = {"version": 1, "entries": project.index, "originalPath": project.cwd}
        world.side_file(folder / "sessions-index.json", dumped(index))
    ledger.settle()


def _todos(world: World, session: str, empty: bool) -> None:
    rows = []
    if not empty:
        content = f"{world.text.line(words.TASKS)} ({world.number()})"
        rows = [{"content": content, "status": "pending", "activeForm": "Working"}]
        world.ledger.part(session, "todo", content)
    world.side_file(world.root / "todos" / f"{session}-agent-{session}.json", dumped(rows))


def _tasks(world: World, session: str) -> None:
    for number in range(1, 3):
        subject = f"{world.text.line(words.TASKS)} ({world.number()})"
        task = {"id": str(number), "subject": subject, "description": "", "activeForm": "Working"}
        task_file = {**task, "status": "pending", "blocks": [], "blockedBy": []}
        world.side_file(world.root / "tasks" / session / f"{number}.json", dumped(task_file))
        world.ledger.part(session, "todo", subject)


def _overflow(conversation: Conversation) -> None:
    world = conversation.world
    folder = world.root / "projects" / conversation.project.directory / conversation.session / "tool-results"
    printed = f"Output {world.number()} of a hook\n{conversation.text.printed('log', 3_000)}\n"
    world.side_file(folder / f"hook-{world.uuid()}-1-stdout.txt", printed.encode())
    world.ledger.part(conversation.session, "tool_result", printed)


def _index(conversation: Conversation, title: str | None) -> None:
    ledger, session = conversation.ledger, conversation.session
    entry = {
        "sessionId": session,
        "fullPath": f"/elsewhere/{session}.jsonl",
        "fileMtime": conversation.clock,
        "messageCount": conversation.lines,
        "created": iso(conversation.clock),
        "modified": iso(conversation.clock),
        "gitBranch": "main",
        "projectPath": conversation.project.cwd,
        "isSidechain": False,
    }
    if conversation.prompts:
        first = conversation.prompts[0]
        entry["firstPrompt"] = first if len(first) <= KEPT_FULL else first[:KEPT_FULL].rstrip() + "…"
        ledger.part(session, "history", str(entry["firstPrompt"]), SIDE)
    if title is not None:
        entry["summary"] = title
        ledger.part(session, "title", title, SIDE)
    conversation.project.index.append(entry)
