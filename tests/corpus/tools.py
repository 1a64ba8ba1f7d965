"""Tool calls and their results, shaped as each tool of Claude Code shapes them (FORMAT, section 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.corpus import words
from tests.corpus.conversation import Conversation, Record

PICTURED_SHARE = 0.023  # base64 images of all bytes, FORMAT section 7


@dataclass(slots=True)
class Use:
    """One call of a tool and what came of it; `text` is the searchable text of the result, "" for none."""

    name: str
    values: Record
    content: Any
    text: str
    outcome: Any
    is_error: bool = False


def choose(conversation: Conversation) -> Use:
    """Return a call of a tool chosen as often as the measured transcripts have it."""
    roll = conversation.world.rng.random() * TOTAL
    for weight, make in TOOLS:
        roll -= weight
        if roll < 0:
            return make(conversation)
    return bash(conversation)


def bash(conversation: Conversation, name: str = "Bash") -> Use:
    world, text = conversation.world, conversation.text
    command = text.line(words.COMMANDS)
    if world.chance(0.18):
        command += " <<'EOF'\n" + text.printed("code", text.size(700, 0.9, 8_000)) + "\nEOF"
    values = {"command": command, "description": f"Run step {world.number()}"}
    roll = world.rng.random()
    if roll < 0.1:
        failure = f"Exit code 1\n{text.printed('trace', text.size(500, 0.9, 6_000))}"
        return Use(name, values, failure, failure, f"Error: {failure}", is_error=True)
    if roll < 0.17:
        output = "" if roll < 0.14 else "\x1b[2K\x1b[0m" if roll < 0.142 else " \n"
        return Use(name, values, output, "", _bash_outcome(output))
    output = text.printed(("log", "shell", "shell", "trace")[int(world.rng.random() * 4)], _size(conversation))
    return Use(name, values, output, output, _bash_outcome(output))


def read(conversation: Conversation) -> Use:
    world, text = conversation.world, conversation.text
    if world.chance(0.06) and conversation.project.touched:
        path = world.rng.choice(conversation.project.touched)
        failure = "<tool_use_error>File has not changed since it was read.</tool_use_error>"
        return Use("Read", {"file_path": path}, failure, failure, f"Error: {failure}", is_error=True)
    path = _path(conversation)
    if world.chance(0.02) and lacks_pictures(conversation):
        return _picture(conversation, path)
    body = text.printed("code", _size(conversation))
    rows = body.split("\n")
    numbered = "\n".join([f"{number:>6}→{row}" for number, row in enumerate(rows, 1)])
    file = {"filePath": path, "content": body, "numLines": len(rows), "startLine": 1, "totalLines": len(rows)}
    return Use("Read", {"file_path": path}, numbered, numbered, {"type": "text", "file": file})


def edit(conversation: Conversation) -> Use:
    text = conversation.text
    path = _path(conversation)
    old = text.printed("code", text.size(160, 1.1, 4_000))
    new = text.printed("code", text.size(220, 1.1, 6_000))
    done = f"The file {path} has been updated successfully."
    original = text.printed("code", text.size(4_000, 1.0, 60_000))
    patch = {"oldStart": 12, "oldLines": 3, "newStart": 12, "newLines": 3, "lines": ["-" + old, "+" + new]}
    outcome = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }
    values = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    return Use("Edit", values, done, done, outcome)


def write(conversation: Conversation) -> Use:
    text = conversation.text
    path = _path(conversation)
    body = text.printed("code", text.size(2_200, 1.1, 50_000))
    done = f"File created successfully at: {path}"
    outcome: Record = {"type": "create", "filePath": path, "content": body, "structuredPatch": [], "originalFile": None}
    return Use("Write", {"file_path": path, "content": body}, done, done, outcome)


def grep(conversation: Conversation) -> Use:
    text = conversation.text
    found = text.printed("shell", text.size(350, 1.5, 20_000))
    outcome: Record = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": found,
        "numLines": found.count("\n"),
    }
    values = {"pattern": _name(conversation), "output_mode": "content", "-n": True}
    return Use("Grep", values, found, found, outcome)


def glob(conversation: Conversation) -> Use:
    paths = conversation.world.rng.sample(conversation.text.paths, 1 + int(conversation.world.rng.random() * 30))
    outcome: Record = {"filenames": paths, "durationMs": 31, "numFiles": len(paths), "truncated": False}
    listed = "\n".join(paths)
    return Use("Glob", {"pattern": f"**/{_name(conversation)}*"}, listed, listed, outcome)


def web_search(conversation: Conversation) -> Use:
    text = conversation.text
    query = f"{_name(conversation)} {conversation.world.rng.choice(words.TECHNOLOGIES)}"
    found = f'Web search results for query: "{query}"\n\n{text.prose("answer", "en", text.size(2_500, 0.5, 9_000))}'
    outcome = {"query": query, "results": [found], "durationSeconds": 4.2}
    return Use("WebSearch", {"query": query}, found, found, outcome)


def web_fetch(conversation: Conversation) -> Use:
    text = conversation.text
    url = f"https://docs.example.org/{_name(conversation)}"
    page = text.prose("answer", "en", text.size(1_800, 0.7, 9_000))
    outcome = {"bytes": len(page), "code": 200, "codeText": "OK", "result": page, "durationMs": 900, "url": url}
    return Use("WebFetch", {"url": url, "prompt": "How is it configured?"}, page, page, outcome)


def todo_write(conversation: Conversation) -> Use:
    rows = [
        {"content": conversation.text.line(words.TASKS), "status": "pending", "activeForm": "Working"}
        for _ in range(1 + int(conversation.world.rng.random() * 6))
    ]
    done = "Todos have been modified successfully. Proceed with the current tasks if applicable"
    return Use("TodoWrite", {"todos": rows}, done, done, {"oldTodos": [], "newTodos": rows})


def task_create(conversation: Conversation) -> Use:
    number = conversation.world.number()
    subject = conversation.text.line(words.TASKS)
    done = f"Task #{number} created successfully: {subject}"
    outcome = {"task": {"id": str(number), "subject": subject}}
    return Use("TaskCreate", {"subject": subject, "activeForm": "Working"}, done, done, outcome)


def task_update(conversation: Conversation) -> Use:
    number = str(conversation.world.number())
    done = f"Updated task #{number} status"
    change = {"from": "in_progress", "to": "completed"}
    outcome = {"success": True, "taskId": number, "updatedFields": ["status"], "statusChange": change}
    return Use("TaskUpdate", {"taskId": number, "status": "completed"}, done, done, outcome)


def task_output(conversation: Conversation) -> Use:
    output = conversation.text.printed("log", conversation.text.size(900, 1.0, 12_000))
    number = f"b{conversation.world.number():06x}"
    task = {"task_id": number, "task_type": "local_bash", "status": "completed", "output": output, "exitCode": 0}
    shown = f"<retrieval_status>success</retrieval_status>\n\n<output>\n{output}\n</output>"
    outcome = {"retrieval_status": "success", "task": task}
    return Use("TaskOutput", {"task_id": number, "block": True}, shown, shown, outcome)


def ask(conversation: Conversation) -> Use:
    question = f"Which {_name(conversation)} should be kept?"
    options = [{"label": "The first", "description": "Simple"}, {"label": "Both", "description": "Safe"}]
    asked = [{"question": question, "header": "Choice", "options": options, "multiSelect": False}]
    answer = f'User has answered your questions: "{question}"="Both". You can now continue.'
    outcome = {"questions": asked, "answers": {question: "Both"}}
    return Use("AskUserQuestion", {"questions": asked}, answer, answer, outcome)


def plan_mode(conversation: Conversation) -> Use:
    """Return a call without any input: its part is its name."""
    done = "Entered plan mode. You should now focus on exploring the codebase."
    return Use("EnterPlanMode", {}, done, done, {"message": done})


def exit_plan(conversation: Conversation) -> Use:
    plan = conversation.text.prose("answer", conversation.language, 900)
    done = f"User has approved your plan.\n\n## Approved Plan:\n{plan}"
    return Use("ExitPlanMode", {"plan": plan}, done, done, {"plan": plan, "isAgent": False})


def tool_search(conversation: Conversation) -> Use:
    """Return a call whose result holds references only: it makes no tool_result part."""
    content = [{"type": "tool_reference", "tool_name": "WebFetch"}]
    outcome = {"matches": ["WebFetch"], "query": "select:WebFetch", "total_deferred_tools": 31}
    return Use("ToolSearch", {"query": "select:WebFetch", "max_results": 3}, content, "", outcome)


def mcp(conversation: Conversation) -> Use:
    text, world = conversation.text, conversation.world
    name = world.rng.choice(MCP_NAMES)
    pieces = [text.prose("answer", "en", text.size(500, 1.1, 9_000)) for _ in range(1 + world.chance(0.3))]
    content: list[Record] = [{"type": "text", "text": piece} for piece in pieces]
    if "screenshot" in name and lacks_pictures(conversation):
        content.append(image(conversation))
    query = {"query": _name(conversation), "options": {"limit": 5, "deep": world.chance(0.5)}}
    return Use(name, query, content, "\n".join(pieces), [dict(item) for item in content if "text" in item])


def lacks_pictures(conversation: Conversation) -> bool:
    """Say whether pictures lag behind their share; a copied session has none, it would count them twice."""
    written = conversation.ledger.bytes + conversation.bytes
    lagging = conversation.text.pictured < PICTURED_SHARE * written
    return lagging and conversation.agent is None and conversation.kept is None


def image(conversation: Conversation) -> Record:
    """Return an image block with base64 data."""
    data = conversation.text.base64(conversation.text.size(45_000, 0.8, 380_000))
    conversation.text.pictured += len(data)
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _picture(conversation: Conversation, path: str) -> Use:
    block = image(conversation)
    file = {"base64": block["source"]["data"], "type": "image/png", "originalSize": 9_000}
    return Use("Read", {"file_path": path}, [block], "", {"type": "image", "file": file})


def _bash_outcome(output: str) -> Record:
    return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


def _size(conversation: Conversation) -> int:
    return conversation.text.size(620, 2.2, 36_000)


def _name(conversation: Conversation) -> str:
    names = conversation.text.identifiers
    return names[int(conversation.world.rng.random() * len(names))]


def _path(conversation: Conversation) -> str:
    files = conversation.project.files
    path = files[int(conversation.world.rng.random() ** 2 * len(files))]
    conversation.world.touch(conversation.project, path)
    return path


MCP_NAMES = (
    "mcp__ddg-search__search",
    "mcp__plugin_serena_serena__find_symbol",
    "mcp__claude-in-chrome__screenshot",
    "mcp__glm-5_1__chat_completion",
)
# Calls per thousand, FORMAT section 5; Task and Agent are made where an agent is written.
TOOLS: list[tuple[float, Callable[[Conversation], Use]]] = [
    (370, bash),
    (270, read),
    (103, edit),
    (56, write),
    (52, grep),
    (35, glob),
    (25, web_search),
    (16, todo_write),
    (14, web_fetch),
    (13, task_update),
    (9, task_output),
    (8, task_create),
    (5, lambda conversation: bash(conversation, "PowerShell")),
    (4, ask),
    (3, exit_plan),
    (2, tool_search),
    (1, plan_mode),
    (12, mcp),
]
TOTAL = sum(weight for weight, _ in TOOLS)
