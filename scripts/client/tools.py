"""Makes a call for every tool that a client offers; tools that are not known get an input made by their schema."""

import json
from collections.abc import Callable
from typing import Any

from client.api import Json, Reply, call, say
from client.home import Home
from client.stage import Stage

# Offered only where they are asked for by name, in one version or another.
BY_NAME = tuple("Grep Glob TodoWrite TaskCreate TaskGet TaskList TaskUpdate TaskOutput Monitor LSP".split())
# Played by scenarios of their own, or only in a terminal.
ELSEWHERE = frozenset("Agent Task Workflow EnterWorktree ExitWorktree Skill AskUserQuestion ExitPlanMode".split())
# Stands in for tools that the client has not loaded.
NO_TOOLS = frozenset(["DeferredToolPlaceholder"])
MAX_CALLS = 60
NOTEBOOK = {"cells": [], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def prepare(home: Home) -> None:
    """Write the files that the tools are called with."""
    files = {
        "readme-note.txt": "zqoutread one\n",
        "editable.txt": "old words\n",
        "haystack.log": "nothing\nneedle zqoutgrep\n",
        "zqoutglob.glb": "\n",
        "book.ipynb": json.dumps(NOTEBOOK),
    }
    for name, content in files.items():
        (home.project / name).write_text(content)


def script(stage: Stage, session: str) -> Callable[[int, Json], Reply]:
    """Return a script that calls one tool after the other, of those that the request offers."""
    planned: list[Json] = []

    def step(number: int, request: Json) -> Reply:
        if not planned:
            planned.extend(_calls(stage, session, request))
        return say(planned[number]) if number < len(planned) else say(done)

    done = stage.plant("text", session, "toolsdone")
    return step


def _calls(stage: Stage, session: str, request: Json) -> list[Json]:
    offered = {tool["name"]: tool.get("input_schema") or {} for tool in request.get("tools") or () if "name" in tool}
    project = stage.home.project

    def word(tool: str) -> str:
        return stage.plant("tool_call", session, f"call{tool.lower()}")

    def out(tool: str) -> None:
        stage.plant("tool_result", session, f"out{tool.lower()}")

    def todo() -> str:
        return stage.plant("todo", session, "tasktodo")

    known: list[tuple[str, Callable[[], Json], bool]] = [
        ("Bash", lambda: {"command": "printf 'zq%s' outbash", "description": word("Bash")}, True),
        ("Read", lambda: {"file_path": str(project / "readme-note.txt")}, True),
        ("Read", lambda: {"file_path": str(project / "editable.txt")}, False),
        (
            "Edit",
            lambda: {"file_path": str(project / "editable.txt"), "old_string": "old words", "new_string": word("Edit")},
            False,
        ),
        ("Write", lambda: {"file_path": str(project / "made.txt"), "content": word("Write") + "\n"}, False),
        ("Grep", lambda: {"pattern": f"needle|{word('Grep')}", "path": str(project), "output_mode": "content"}, True),
        ("Glob", lambda: {"pattern": f"**/{{{word('Glob')},*}}.glb", "path": str(project)}, True),
        ("Read", lambda: {"file_path": str(project / "book.ipynb")}, False),
        (
            "NotebookEdit",
            lambda: {
                "notebook_path": str(project / "book.ipynb"),
                "new_source": word("NotebookEdit"),
                "cell_type": "code",
                "edit_mode": "insert",
            },
            False,
        ),
        (
            "TodoWrite",
            lambda: {"todos": [{"content": word("TodoWrite"), "status": "pending", "activeForm": "Doing"}]},
            False,
        ),
        ("TaskCreate", lambda: {"subject": word("TaskCreate"), "description": todo()}, False),
        ("TaskUpdate", lambda: {"taskId": "1", "status": "in_progress", "activeForm": word("TaskUpdate")}, False),
        ("TaskGet", lambda: {"taskId": "1"}, False),
        ("TaskList", dict, False),
        # Refused by the settings, so that nothing leaves the machine.
        ("WebFetch", lambda: {"url": "https://example.invalid/", "prompt": word("WebFetch")}, False),
        ("WebSearch", lambda: {"query": f"{word('WebSearch')} prices"}, False),
        ("CronCreate", lambda: {"cron": "0 0 1 1 *", "prompt": word("CronCreate"), "recurring": False}, False),
        ("CronList", dict, False),
        ("CronDelete", lambda: {"id": word("CronDelete")}, False),
        (
            "ScheduleWakeup",
            lambda: {"delaySeconds": 3600, "reason": word("ScheduleWakeup"), "prompt": "later", "stop": True},
            False,
        ),
        ("ReportFindings", lambda: {"level": "low", "findings": []}, False),
        ("Monitor", lambda: {"command": "true", "description": word("Monitor"), "timeout_ms": 1000}, False),
    ]
    calls = []
    for tool, input, has_output in known:
        if tool in offered:
            calls.append(call(tool, **input()))
            if has_output:
                out(tool)
    named = {name for name, _, _ in known} | ELSEWHERE | NO_TOOLS
    for tool in sorted(set(offered) - named):
        if tool.startswith("mcp__"):
            continue
        made = made_up(offered[tool], f"zqcall{tool.lower()}")
        if f"zqcall{tool.lower()}" in json.dumps(made):
            word(tool)
        calls.append(call(tool, **made))
    return calls[:MAX_CALLS]


def made_up(schema: Json, word: str) -> dict[str, Any]:
    """Return an input that a schema allows: what it requires, and the first string that it knows."""
    properties = schema.get("properties") or {}
    wanted = list(schema.get("required") or ())
    strings = [name for name, one in properties.items() if one.get("type") == "string" and not one.get("enum")]
    if strings and not any(name in wanted for name in strings):
        wanted.append(strings[0])
    return {name: _value(properties.get(name) or {}, word) for name in wanted}


def _value(schema: Json, word: str) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return made_up(schema, word)
    plain = {"integer": 1, "number": 1, "boolean": False, "array": [], "null": None}
    return plain.get(str(kind), word)
