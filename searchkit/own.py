"""What searchkit itself said in earlier sessions, where an agent asked it: kept, and not ranked.

It quotes other sessions, and would rank beside what it quotes. A tool of our MCP server is known by its
name. A shell is known by what it was told to run, so what comes of that bears our name behind the
shell's: `tool:Bash` means it, and so does `tool:searchkit`.
"""

import re

from msgspec.structs import replace

from searchkit.conditions import holds
from searchkit.questions import Condition, Filter, Query
from searchkit.types import Block

NAME = "searchkit"
# A tool of an MCP server is called mcp__<server>__<tool>; that of a plugin, mcp__plugin_<plugin>_<server>__<tool>.
TOOLS = (NAME, f"plugin_{NAME}_{NAME}")
SHELLS = frozenset({"Bash", "PowerShell"})
# Where a command may begin, what may stand before its name, and the commands that quote transcripts.
_RUN = re.compile(
    r"(?:^|[;&|(`\n])\s*(?:\w+=\S*\s+)*(?:(?:timeout\s+\S+|time|uvx?|uv\s+run|pipx\s+run|\S*python[\d.]*\s+-m)\s+)*"
    r"(?:[\w.~$/\\{}-]*[/\\])?searchkit\s+(?:search|show|context|sessions|tree|resume)\b"
)
_LEFT_OUT = Filter(name="tool", values=TOOLS, is_excluded=True)


def answering(call: Block) -> str | None:
    """Return the tool that the result of a call is of: a shell that ran one of our commands has our name, too."""
    is_ours = call.tool in SHELLS and any(
        field.name == "command" and _RUN.search(call.text[field.start : field.end]) for field in call.fields
    )
    return f"{call.tool}__{NAME}" if is_ours else call.tool


def without(query: Query) -> Query:
    """Leave out what searchkit said, unless that is what is asked for."""
    condition = query.condition
    if any(_means_ours(filter) for filter in condition.filters):
        return query
    return replace(query, condition=Condition(filters=(*condition.filters, _LEFT_OUT), periods=condition.periods))


def _means_ours(filter: Filter) -> bool:
    ours = (*TOOLS, *(f"mcp__{tool}__" for tool in TOOLS), *(f"{shell}__{NAME}" for shell in SHELLS))
    return (
        filter.name == "tool"
        and not filter.is_excluded
        and any(
            wanted.casefold().startswith(one.casefold()) or holds("tool", one, wanted)
            for wanted in filter.values
            for one in ours
            if wanted not in (*SHELLS, "mcp")
        )
    )
