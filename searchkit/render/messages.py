"""How a part reads as a message: who says it, and in which pieces; calls as commands and diffs, fences as code."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, takewhile

from searchkit.backends.base import Stored
from searchkit.conversation.types import Said
from searchkit.render.document import Code, Command, Diff, Message, Output, Piece, Prose, Row
from searchkit.render.search import speaker
from searchkit.sources import tools
from searchkit.text.format import count
from searchkit.types import Kind, Part

# Rows that are shown of a message that was asked for, and of the others.
MOST_LINES_OF_HIT = 40
MOST_LINES = 12


def message(
    said: Said,
    depth: int = 0,
    before: Stored | None = None,
    most_lines: int | None = None,
    is_dated: bool = False,
) -> Message:
    """Show a part; a result is joined to the part before it if that is its call."""
    stored = said.stored
    part = stored.part
    is_result = part.kind is Kind.TOOL_RESULT
    is_its_call = before is not None and before.part.kind is Kind.TOOL_CALL and before.part.call == part.call
    return Message(
        uuid=part.uuid,
        speaker=speaker(stored),
        time=stored.link.time,
        pieces=pieces(stored),
        session=stored.link.places[0].session,
        is_hit=said.is_hit,
        is_error=part.is_error,
        is_joined=is_result and is_its_call,
        is_dated=is_dated and stored.link.time is not None,
        most_lines=most_lines or (MOST_LINES_OF_HIT if said.is_hit else MOST_LINES),
        depth=depth,
    )


def pieces(stored: Stored) -> list[Piece]:
    """Split what a part says by how it is shown."""
    part = stored.part
    if part.kind is Kind.TOOL_CALL:
        return call_pieces(part)
    if part.kind is Kind.TOOL_RESULT:
        return [Output(text=part.text.rstrip(), is_error=part.is_error)]
    return text_pieces(part.text)


# How a tool call reads: edits as changes, shell commands as they were typed, all else as its inputs.

# What lines of a patch begin with: added, removed, unchanged, and a word about where they are.
_SIGNS = "+- @"
# Inputs that say nothing where they have this value.
_USUAL = {"replace_all": "false"}


def call_pieces(part: Part) -> list[Piece]:
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
        yield Diff(path=path, rows=[Row(sign=line[0], text=line[1:].removeprefix("@ ")) for line in signed])


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
            yield {name, partner}, rows(old, values.get(partner, ""))
        elif name in tools.WRITTEN and tools.changes_files(tool):
            yield {name}, rows("", old)


# What changed between two texts: lines added and removed, with some around them.

# Unchanged lines that are shown around a change, as in `diff -u`.
CONTEXT = 3
# Comparing takes time with the product of the lengths, and in the worst case with more; beyond this all is replaced.
MOST_COMPARED = 40_000


def rows(old: str, new: str) -> list[Row]:
    """Compare two texts line by line; where nothing was before, all is added."""
    if new.endswith("\n") and (not old or old.endswith("\n")):
        # The end of the last line is no line of its own.
        old, new = old[:-1], new[:-1]
    before, after = (text.split("\n") if text else [] for text in (old, new))
    return list(_shortened(list(_compared(before, after))))


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """Yield every line, unchanged ones too; what both begin and end with is cheap to tell."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    yield from (Row(sign=" ", text=line) for line in before[:head])
    yield from _middle(before[head : len(before) - tail], after[head : len(after) - tail])
    yield from (Row(sign=" ", text=line) for line in before[len(before) - tail :])


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the lines that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _middle(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    if len(before) * len(after) > MOST_COMPARED:
        operations = [("replace", 0, len(before), 0, len(after))]
    else:
        operations = list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
    for operation, start, end, new_start, new_end in operations:
        if operation == "equal":
            yield from (Row(sign=" ", text=line) for line in before[start:end])
            continue
        yield from (Row(sign="-", text=line) for line in before[start:end])
        yield from (Row(sign="+", text=line) for line in after[new_start:new_end])


def _shortened(found: Sequence[Row]) -> Iterator[Row]:
    """Put a word in place of unchanged lines that are far from a change."""
    changed = [number for number, row in enumerate(found) if row.sign != " "]
    near = {line for number in changed for line in range(number - CONTEXT, number + CONTEXT + 1)}
    for is_near, run in groupby(enumerate(found), lambda numbered: numbered[0] in near):
        several = [row for _, row in run]
        if is_near or len(several) == 1:
            yield from several
        else:
            yield Row(sign="@", text=f"{count(len(several), 'line')} unchanged")


# Where in a text code begins and ends: fenced blocks, as Markdown has them.

# Models indent fences below the items of a list, deeper than Markdown allows.
_OPENING = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")


def text_pieces(text: str) -> list[Piece]:
    """Split a text into words and code; a fence that is never closed holds all that follows it."""
    found: list[Piece] = []
    prose: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.match(line)
        if opening is None:
            prose.append(line)
            continue
        indent, fence, info = opening.groups()
        closing = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        code = []
        for inner in lines:
            if closing.match(inner):
                break
            code.append(inner.removeprefix(indent))
        found += [*_prose(prose), Code(text="\n".join(code), language=_language(info))]
        prose = []
    return found + _prose(prose)


def _prose(lines: list[str]) -> list[Piece]:
    """Leave out the blank lines around words, and words that are nothing but those."""
    text = "\n".join(lines).strip("\n").rstrip()
    return [Prose(text=text)] if text else []


def _language(info: str) -> str | None:
    """Name the language, the first word after a fence: `python title="a.py"`."""
    words = info.split()
    return words[0].lower() if words else None
