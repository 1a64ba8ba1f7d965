"""What searchkit itself said in earlier sessions, where an agent asked it: kept, and not ranked.

It quotes other sessions, and would rank beside what it quotes. A tool of our MCP server is known by its
name. A shell is known by what it was told to run, so what comes of that bears our name behind the
shell's: `tool:Bash` means it, and so does `tool:searchkit`.
"""

import re

from searchkit.query.filters import holds
from searchkit.query.types import Condition, Filter, Query, narrowed
from searchkit.sources import tools
from searchkit.types import Block

NAME = "searchkit"
# A tool of an MCP server is called mcp__<server>__<tool>; that of a plugin, mcp__plugin_<plugin>_<server>__<tool>.
TOOLS = (NAME, f"plugin_{NAME}_{NAME}")
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
_LEFT_OUT = Filter(name="tool", values=TOOLS, is_excluded=True)
# Beginnings of our tools' names that mean others as well.
_OF_MANY = frozenset({"mcp", *tools.shells()})


def answering(call: Block) -> str | None:
    """Return the tool that the result of a call is of: a shell that ran one of our commands has our name, too."""
    is_ours = tools.runs_commands(call.tool) and any(
        field.name == tools.COMMAND and _runs_ours(call.text[field.start : field.end]) for field in call.fields
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
    ours = (*TOOLS, *(f"mcp__{tool}__" for tool in TOOLS), *(f"{shell}__{NAME}" for shell in tools.shells()))
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
