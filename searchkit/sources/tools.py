"""The table of tools: what each does, and how its inputs are named.

Searching and rendering need it, so it imports nothing that reads transcripts. Names are compared without their
letter case, since agents spell one tool `Edit`, `edit` or `edit_file`. A tool of an MCP server
(`mcp__files__edit_file`) is known by its last name as far as it touches files or runs commands; whatever else such a
name says is the server's own: `mcp__tracker__task` starts no agent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from searchkit.query.filters import holds
from searchkit.query.types import Condition, Filter, Query, narrowed
from searchkit.types import Block


class Act(StrEnum):
    """What a tool does."""

    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    RUN = "run"
    SEARCH = "search"
    AGENT = "agent"
    OTHER = "other"


class Tool(NamedTuple):
    """What a tool does, and what one call of it is called where calls are counted.

    `is_patch` says that its text is a patch in the format of `apply_patch`, which names its files itself.
    """

    act: Act
    noun: str
    is_patch: bool = False


_CHANGING = frozenset({Act.EDIT, Act.WRITE})
_OF_FILES = _CHANGING | {Act.READ}
# Inputs that name a file, the most usual first.
PATHS = ("file_path", "notebook_path", "path", "target_file", "filePath", "filename")
# What an input is called that holds a text to be replaced, and the one beside it that replaces it.
REPLACED = {"old_string": "new_string", "oldText": "newText", "old_str": "new_str", "oldString": "newString"}
# Inputs that hold the whole new text of a file.
WRITTEN = ("content", "new_source", "file_text", "contents")
# The input that a shell runs, and the one that says what for.
COMMAND, PURPOSE = "command", "description"
# Inputs that hold a patch in the format of `apply_patch`.
PATCHES = ("input", "patch")
# The inputs that say what a call was about, where it touched no file.
SUBJECTS = (COMMAND, "pattern", "url", "query")
# Inputs of a tool that starts an agent: what the agent is asked, of which type it is, and what for.
AGENT_PROMPT, AGENT_TYPE, AGENT_PURPOSE = "prompt", "subagent_type", "description"

_READ, _EDIT, _WRITE = Tool(Act.READ, "read"), Tool(Act.EDIT, "edit"), Tool(Act.WRITE, "write")
_RUN, _SEARCH, _AGENT = Tool(Act.RUN, "command"), Tool(Act.SEARCH, "search"), Tool(Act.AGENT, "agent")
_PATCH = Tool(Act.EDIT, "edit", is_patch=True)
_PLAN = Tool(Act.OTHER, "to-do list")

TOOLS: Mapping[str, Tool] = {
    "read": _READ,
    "read_file": _READ,
    "read_text_file": _READ,
    "notebookread": _READ,
    "view_image": _READ,
    "edit": _EDIT,
    "edit_file": _EDIT,
    "multiedit": _EDIT,
    "notebookedit": _EDIT,
    "str_replace": _EDIT,
    "str_replace_based_edit_tool": _EDIT,
    "str_replace_editor": _EDIT,
    "search_replace": _EDIT,
    "replace": _EDIT,
    "replace_in_file": _EDIT,
    "apply_diff": _EDIT,
    "apply_patch": _PATCH,
    "write": _WRITE,
    "write_file": _WRITE,
    "write_to_file": _WRITE,
    "create_file": _WRITE,
    "bash": _RUN,
    "powershell": _RUN,
    "shell": _RUN,
    "shell_command": _RUN,
    "local_shell": _RUN,
    "exec_command": _RUN,
    "execute_command": _RUN,
    "run_shell_command": _RUN,
    "run_terminal_cmd": _RUN,
    "run_in_terminal": _RUN,
    "grep": _SEARCH,
    "glob": _SEARCH,
    "grep_search": _SEARCH,
    "file_search": _SEARCH,
    "search_files": _SEARCH,
    "ls": Tool(Act.OTHER, "listing"),
    "list_dir": Tool(Act.OTHER, "listing"),
    "websearch": Tool(Act.OTHER, "web search"),
    "web_search": Tool(Act.OTHER, "web search"),
    "webfetch": Tool(Act.OTHER, "page"),
    "task": _AGENT,
    "agent": _AGENT,
    "spawn_agent": _AGENT,
    # They may start an agent each, which their results name; they are more than that.
    "workflow": Tool(Act.AGENT, "Workflow call"),
    "skill": Tool(Act.OTHER, "skill"),
    "todowrite": _PLAN,
    "update_plan": _PLAN,
}
# Tools whose result may name an agent although starting one is not what they are for.
_MAY_START = frozenset({"skill"})
# Tools whose results only say that it was done, beside those that change files.
_ACKNOWLEDGING = frozenset({"todowrite", "update_plan"})
_MCP = "mcp__"
_ADDED, _MOVED, _OF_PATCH = "*** Add File: ", "*** Move to: ", "*** "
_PATCHED = ("*** Update File: ", "*** Delete File: ", _ADDED, _MOVED)
_MADE = frozenset({_ADDED, _MOVED})


# A search asks for hundreds of steps of a few tools.
@lru_cache(1024)
def find(name: str | None) -> Tool | None:
    """Return what is known of a tool by its name."""
    if not name:
        return None
    whole = name.casefold()
    known = TOOLS.get(whole)
    if known is not None or not whole.startswith(_MCP):
        return known
    known = TOOLS.get(whole.rpartition("__")[2])
    return known if known is not None and known.act in _OF_FILES | {Act.RUN} else None


def changes_files(name: str | None) -> bool:
    """Say whether a tool edits or writes files."""
    known = find(name)
    return known is not None and known.act in _CHANGING


def is_patch(name: str | None) -> bool:
    """Say whether a tool takes a patch in the format of `apply_patch`."""
    known = find(name)
    return known is not None and known.is_patch


def runs_commands(name: str | None) -> bool:
    """Say whether a tool is a shell."""
    known = find(name)
    return known is not None and known.act is Act.RUN


def starts_agent(name: str | None) -> bool:
    """Say whether a tool starts agents."""
    known = find(name)
    return known is not None and known.act is Act.AGENT


def may_start_agent(name: str) -> bool:
    """Say whether the result of a tool may name an agent that it started."""
    return starts_agent(name) or name.casefold() in _MAY_START


def only_acknowledges(name: str | None) -> bool:
    """Say whether the results of a tool say nothing but that it was done."""
    return changes_files(name) or (name or "").casefold() in _ACKNOWLEDGING


def file_action(name: str | None) -> str | None:
    """Return what a tool does to the file that its input names: read, edit or write."""
    known = find(name)
    return known.act.value if known is not None and known.act in _OF_FILES else None


def changing() -> list[str]:
    """List the names of the tools that change files, without servers; as values of the filter `tool:` they mean all."""
    return sorted(name for name, tool in TOOLS.items() if tool.act in _CHANGING)


def shells() -> list[str]:
    """List the names of the shells."""
    return sorted(name for name, tool in TOOLS.items() if tool.act is Act.RUN)


def noun(name: str) -> str:
    """Return what a call of a tool is called where calls are counted."""
    known = TOOLS.get(name.casefold())
    if known is not None:
        return known.noun
    return (name.rpartition("__")[2] if name.startswith(_MCP) else name) + " call"


def touched(name: str | None, inputs: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the files that a call names, each with what is done to it: read, edit or write."""
    known = find(name)
    if known is None or known.act not in _OF_FILES:
        return
    if known.is_patch:
        for key in PATCHES:
            value = inputs.get(key)
            if isinstance(value, str):
                yield from patched(value.splitlines())
    for key in PATHS:
        path = inputs.get(key)
        if isinstance(path, str) and path:
            yield path, known.act.value


def patched(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that a patch in the format of `apply_patch` names, with what it does to them."""
    for line in lines:
        sign, path = _named_in_patch(line)
        if path:
            yield path, (Act.WRITE if sign in _MADE else Act.EDIT).value


def patch_by_file(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the files of a patch in the format of `apply_patch`, each with the lines that tell of its change."""
    path, lines = "", list[str]()
    for line in text.splitlines():
        sign, named = _named_in_patch(line)
        if sign and sign != _MOVED:
            if path:
                yield path, lines
            path, lines = named, []
        elif path and not line.startswith(_OF_PATCH):
            lines.append(line)
        elif path and sign == _MOVED:
            lines.append(f"@@ moved to {named}")
    if path:
        yield path, lines


def _named_in_patch(line: str) -> tuple[str, str]:
    """Return what a line of a patch says of a file, and the file; both are empty where it names none."""
    sign = next((sign for sign in _PATCHED if line.startswith(sign)), "")
    return sign, line.removeprefix(sign).strip() if sign else ""


# What searchkit itself said in earlier sessions, where an agent asked it: kept, and not ranked.
#
# It quotes other sessions, and would rank beside what it quotes. A tool of our MCP server is known by its name. A
# shell is known by what it was told to run, so what comes of that bears our name behind the shell's: `tool:Bash`
# means it, and so does `tool:searchkit`.


NAME = "searchkit"
# A tool of an MCP server is called mcp__<server>__<tool>; that of a plugin, mcp__plugin_<plugin>_<server>__<tool>.
OWN_TOOLS = (NAME, f"plugin_{NAME}_{NAME}")
# The commands of ours that quote transcripts, and how far before its name a command is looked at: commands are
# hostile text, and may have any length.
_NAMED = re.compile(r"searchkit\s{1,9}(?:search|show|context|sessions|tree|resume)\b")
MOST_BEFORE = 300
_BEGINS = re.compile(r"[;&|(`\n]")
_PATH = re.compile(r"[\w.~$/\\{}-]*[/\\]")
_VARIABLE = re.compile(r"\w+=")
# What runs another command, with how many words of its own: `timeout 9`, `uv run`, `python3 -m`.
_RUNNERS = {"time": 0, "uvx": 0, "uv": 1, "timeout": 1, "pipx": 1}
_PYTHON = re.compile(r"\S*python[\d.]*")
_LEFT_OUT = Filter(name="tool", values=OWN_TOOLS, is_excluded=True)
# Beginnings of our tools' names that mean others as well.
_OF_MANY = frozenset({"mcp", *shells()})


def answering(call: Block) -> str | None:
    """Return the tool that the result of a call is of: a shell that ran one of our commands has our name, too."""
    is_ours = runs_commands(call.tool) and any(
        field.name == COMMAND and _runs_ours(call.text[field.start : field.end]) for field in call.fields
    )
    return f"{call.tool}__{NAME}" if is_ours else call.tool


def without(query: Query) -> Query:
    """Leave out what searchkit said, unless that is what is asked for."""
    means_ours = any(_means_ours(filter) for filter in query.condition.filters)
    return query if means_ours else narrowed(query, _LEFT_OUT)


def is_all_else(condition: Condition) -> bool:
    """Say whether a condition asks for everything but what searchkit said."""
    return condition == Condition(filters=(_LEFT_OUT,))


def _runs_ours(command: str) -> bool:
    """Say whether a shell was told to run one of our commands, rather than to look for its name."""
    for named in _NAMED.finditer(command):
        begin = max(0, named.start() - MOST_BEFORE)
        before = _BEGINS.split(command[begin : named.start()])
        if (begin == 0 or len(before) > 1) and _leads_to_command(before[-1]):
            return True
    return False


def _leads_to_command(before: str) -> bool:
    """Say whether what stands before a name only sets variables, runs what follows, or says where it is."""
    words = before.split()
    if words and not before[-1].isspace():
        path = words.pop()
        if not _PATH.fullmatch(path):
            return False
    while words:
        word = words.pop(0)
        if _PYTHON.fullmatch(word) and words[:1] == ["-m"]:
            words.pop(0)
        elif word in _RUNNERS:
            # `uv` alone runs nothing, but then nothing of ours follows either.
            del words[: _RUNNERS[word]]
        elif not _VARIABLE.match(word):
            return False
    return True


def _means_ours(filter: Filter) -> bool:
    ours = (*OWN_TOOLS, *(f"mcp__{tool}__" for tool in OWN_TOOLS), *(f"{shell}__{NAME}" for shell in shells()))
    return (
        filter.name == "tool"
        and not filter.is_excluded
        and any(
            wanted.casefold().startswith(one.casefold()) or holds("tool", one, wanted)
            for wanted in filter.values
            for one in ours
            if wanted.casefold() not in _OF_MANY
        )
    )


# What a client says itself where it ran no tool: such a result failed, and is no error of anything that was run.


# Claude Code marks most of its own; older versions and other tools of it do not.
_REFUSALS = re.compile(
    r"<tool_use_error>"
    r"|(?:Error: )?File has not been read yet"
    r"|File has been (?:unexpectedly )?modified"
    r"|File does not exist\."
    r"|File content \([^)]*\) exceeds maximum"
    r"|Cancelled: parallel tool call"
    r"|Sibling tool call errored"
    r"|String to replace not found"
    r"|Found \d+ matches of the string to replace"
    r"|InputValidationError"
    r"|The user doesn't want to (?:proceed|take this action)"
    r"|\[Request interrupted by user"
    r"|Permission (?:to use|for this tool use)"
    r"|\w+ requested permissions to"
    r"|EISDIR: illegal operation on a directory, read"
    r"|Ripgrep search timed out"
    r"|Request failed with status code"
)


def is_refusal(text: str) -> bool:
    """Say whether the text of a result is the client's own, and not what a command or a tool printed."""
    return _REFUSALS.match(text.lstrip()) is not None
