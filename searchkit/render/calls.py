"""How a tool call reads: edits as changes, shell commands as they were typed, all else as its inputs."""

from collections.abc import Iterator, Mapping

from searchkit.render import diff
from searchkit.render.document import Code, Command, Diff, Piece, Row
from searchkit.types import Part

_SHELLS = frozenset({"bash", "powershell"})
_WRITERS = frozenset({"write", "write_file", "notebookedit"})
# What an input is called that holds a text to be replaced, and the one beside it that replaces it.
_REPLACED = {"old_string": "new_string", "oldText": "newText"}
_WRITTEN = ("content", "new_source")
_PATHS = ("file_path", "notebook_path", "path")
# Inputs that say nothing where they have this value.
_USUAL = {"replace_all": "false"}


def pieces(part: Part) -> list[Piece]:
    """Show what a call does; inputs that this does not tell follow as `name: value` lines."""
    values = _values(part)
    tool = _name(part.tool or "")
    found: list[Piece] = []
    told: set[str] = set()
    if tool in _SHELLS and "command" in values:
        found = [Command(text=values["command"], purpose=values.get("description", ""))]
        told = {"command", "description"}
    else:
        path = next((values[name] for name in _PATHS if name in values), "")
        for names, rows in _changes(tool, values):
            found.append(Diff(path=path, rows=rows))
            told |= {*names, *_PATHS}
    if not found:
        return [Code(text=part.text)]
    rest = [f"{name}: {value}" for name, value in values.items() if name not in told and _USUAL.get(name) != value]
    return [*found, Code(text="\n".join(rest))] if rest else found


def _name(tool: str) -> str:
    """Name a tool without the server that it is of: `mcp__server__tool`."""
    return tool.rpartition("__")[2].lower()


def _values(part: Part) -> dict[str, str]:
    """Return the inputs by name; where the text is not what they were laid out in, there are none."""
    found = {}
    for field in part.fields:
        label = f"{field.name}: "
        if part.text[max(0, field.start - len(label)) : field.start] != label:
            return {}
        found[field.name] = part.text[field.start : field.end]
    return found


def _changes(tool: str, values: Mapping[str, str]) -> Iterator[tuple[set[str], list[Row]]]:
    """Yield the names of the inputs that tell of a change, and the change."""
    for name, old in values.items():
        prefix, dot, last = name.rpartition(".")
        if last in _REPLACED:
            partner = f"{prefix}{dot}{_REPLACED[last]}"
            yield {name, partner}, diff.rows(old, values.get(partner, ""))
        elif name in _WRITTEN and tool in _WRITERS:
            yield {name}, diff.rows("", old)
