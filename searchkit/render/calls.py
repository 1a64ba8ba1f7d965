"""How a tool call reads: edits as changes, shell commands as they were typed, all else as its inputs."""

from collections.abc import Iterator, Mapping

from searchkit.render import diff
from searchkit.render.document import Code, Command, Diff, Piece, Row
from searchkit.sources import tools
from searchkit.types import Part

# What lines of a patch begin with: added, removed, unchanged, and a word about where they are.
_SIGNS = "+- @"
# Inputs that say nothing where they have this value.
_USUAL = {"replace_all": "false"}


def pieces(part: Part) -> list[Piece]:
    """Show what a call does; inputs that this does not tell follow as `name: value` lines."""
    values = _values(part)
    found: list[Piece] = []
    told: set[str] = set()
    if tools.is_patch(part.tool):
        written = next((name for name in tools.PATCHES if name in values), None)
        found = list(_patched(values[written] if written else part.text))
        told = {written} if written else set()
    elif tools.runs_commands(part.tool) and tools.COMMAND in values:
        found = [Command(text=values[tools.COMMAND], purpose=values.get(tools.PURPOSE, ""))]
        told = {tools.COMMAND, tools.PURPOSE}
    else:
        path = next((values[name] for name in tools.PATHS if name in values), "")
        for names, rows in _changes(part.tool, values):
            found.append(Diff(path=path, rows=rows))
            told |= {*names, *tools.PATHS}
    if not found:
        return [Code(text=part.text)]
    rest = [f"{name}: {value}" for name, value in values.items() if name not in told and _USUAL.get(name) != value]
    return [*found, Code(text="\n".join(rest))] if rest else found


def _patched(text: str) -> Iterator[Piece]:
    """Yield the changes of a patch, file by file."""
    for path, lines in tools.patch_by_file(text):
        signed = [line for line in lines if line and line[0] in _SIGNS and line.rstrip() != "@@"]
        rows = [Row(sign=line[0], text=line[1:].removeprefix("@ ")) for line in signed]
        yield Diff(path=path, rows=rows)


def _values(part: Part) -> dict[str, str]:
    """Return the inputs by name; where the text is not what they were laid out in, there are none."""
    found = {}
    for field in part.fields:
        label = f"{field.name}: "
        if part.text[max(0, field.start - len(label)) : field.start] != label:
            return {}
        found[field.name] = part.text[field.start : field.end]
    return found


def _changes(tool: str | None, values: Mapping[str, str]) -> Iterator[tuple[set[str], list[Row]]]:
    """Yield the names of the inputs that tell of a change, and the change."""
    for name, old in values.items():
        prefix, dot, last = name.rpartition(".")
        if last in tools.REPLACED:
            partner = f"{prefix}{dot}{tools.REPLACED[last]}"
            yield {name, partner}, diff.rows(old, values.get(partner, ""))
        elif name in tools.WRITTEN and tools.changes_files(tool):
            yield {name}, diff.rows("", old)
