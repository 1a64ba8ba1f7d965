"""A message inside its conversation as a document, with what failed beside what passed later."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import NamedTuple

from searchkit.backends.base import Stored
from searchkit.conversation.turns import describe
from searchkit.conversation.types import Branch, Break, Conversation, Entry, Fix, Folded, Said
from searchkit.render import wording
from searchkit.render.document import (
    Block,
    Code,
    Command,
    Compared,
    Diff,
    Document,
    Message,
    Note,
    Output,
    Piece,
    Prose,
    Row,
    Tone,
)
from searchkit.render.search import speaker
from searchkit.render.wording import Asked, gap
from searchkit.sources import tools
from searchkit.sources.tools import starts_agent
from searchkit.text.format import count, day
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


# Other ways that leave from what is not shown are named, as far as they are no more than this.
MOST_ELSEWHERE = 3
# So many other sessions that hold the same message are named.
MOST_SESSIONS = 5


class Told(NamedTuple):
    """What is told, and the records that it tells of."""

    block: Message | Note
    records: AbstractSet[str] = frozenset()


def document(found: Conversation, asked: Asked) -> Document:
    """Tell a conversation."""
    blocks: list[Block] = [
        *_more(found.earlier, "earlier", "--before", asked.before),
        *_with_branches(list(_told(found.entries)), found, asked),
        *_more(found.later, "later", "--after", asked.after),
        *_hidden_agents(found, asked),
        *(fixed(fix) for fix in found.fixes),
    ]
    return Document(title=wording.title(found.session), about=list(_about(found, asked)), blocks=blocks)


def _about(found: Conversation, asked: Asked) -> Iterator[Note]:
    """Say where this was, whose work it is, and whether the conversation later went elsewhere."""
    session = found.session
    if session is not None:
        yield from (Note(text=line, tone=Tone.ABOUT) for line in wording.place(session))
    for agent in found.above:
        caller = asked.command("show", agent.caller) if agent.caller else None
        yield Note(text=wording.asked_by(agent, session), tone=Tone.AGENT, command=caller)
    if found.also_in:
        more = [f"{len(found.also_in) - MOST_SESSIONS} more"] if len(found.also_in) > MOST_SESSIONS else []
        yield Note(text=f"also in {', '.join([*found.also_in[:MOST_SESSIONS], *more])}", tone=Tone.ABOUT)
    if found.left_at is not None:
        command = asked.command("show", found.left_at)
        yield Note(text="abandoned: the conversation later went another way", tone=Tone.WAY, command=command)


def _more(turns: int, which: str, option: str, shown: int) -> list[Note]:
    if not turns:
        return []
    return [Note(text=f"{count(turns, f'{which} turn')}: {option} {shown + turns}", tone=Tone.MORE)]


def _told(entries: Sequence[Entry]) -> Iterator[Told]:
    """Yield what is told of entries, those of agents below the call that started them, however deep."""
    levels = [iter(entries)]
    before: Stored | None = None
    time: int | None = None
    while levels:
        depth = len(levels) - 1
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
        elif isinstance(entry, Said):
            passed = gap(time, entry.stored.link.time, depth)
            yield from (Told(note) for note in passed)
            is_dated = not passed and day(entry.stored.link.time) != day(time)
            yield Told(message(entry, depth, before, is_dated=is_dated), {entry.stored.part.uuid})
            before, time = entry.stored, entry.stored.link.time or time
            continue
        elif isinstance(entry, Folded):
            note = Note(text=describe(entry.steps), tone=Tone.STEPS, depth=depth)
            yield Told(note, {step.uuid for step in entry.steps})
        elif isinstance(entry, Break):
            yield Told(Note(text=wording.REASONS[entry.reason], tone=Tone.BREAK, depth=depth))
        else:
            yield Told(Note(text=wording.agent(entry.agent), tone=Tone.AGENT, depth=depth + 1))
            levels.append(iter(entry.entries))
        before = None


def _with_branches(told: Sequence[Told], found: Conversation, asked: Asked) -> Iterator[Block]:
    """Name each other way after what is told of the record that it leaves from, some of the others at the end."""
    places = {uuid: number for number, one in enumerate(told) for uuid in one.records}
    ways: dict[int, list[Branch]] = {}
    for branch in found.branches:
        number = places.get(branch.at, len(told)) if branch.at else len(told)
        # A result stays right below its call.
        while number + 1 < len(told) and _is_joined(told[number + 1].block):
            number += 1
        ways.setdefault(number, []).append(branch)
    for number, one in enumerate(told):
        yield one.block
        yield from (_way(branch, asked, one.block.depth) for branch in ways.get(number, ()))
    elsewhere = ways.get(len(told), [])
    yield from (_way(branch, asked, is_elsewhere=True) for branch in elsewhere[:MOST_ELSEWHERE])
    if len(elsewhere) > MOST_ELSEWHERE and found.session is not None:
        text = f"and {count(len(elsewhere) - MOST_ELSEWHERE, 'other way')}"
        yield Note(text=text, tone=Tone.WAY, command=asked.command("tree", found.session.id))


def _way(branch: Branch, asked: Asked, depth: int = 0, is_elsewhere: bool = False) -> Note:
    command = asked.command("show", branch.first)
    return Note(text=wording.branch(branch, is_elsewhere), tone=Tone.WAY, command=command, depth=depth)


def _is_joined(block: Message | Note) -> bool:
    return isinstance(block, Message) and block.is_joined


def _hidden_agents(found: Conversation, asked: Asked) -> list[Note]:
    """Say how to see what the agents did that are called in what is shown."""
    tools = {entry.stored.part.tool for entry in found.entries if isinstance(entry, Said)}
    if asked.has_agents or not any(map(starts_agent, tools)):
        return []
    return [Note(text="what the agents did: --agents", tone=Tone.MORE)]


# A fix, told: what failed beside what passed later, and how many edits lie between.

# Rows that are shown of each result.
MAX_RESULT_LINES = 8


def fixed(fix: Fix) -> Compared:
    """Put a result that failed beside the later one that passed."""
    after = f"after {count(fix.edits, 'edit')}" if fix.edits else "later"
    return Compared(
        text=f"failed, and passed {after}",
        failed=_tried(fix.failed_call, fix.failed),
        passed=_tried(fix.passed_call, fix.passed),
    )


def _tried(call: Stored, result: Stored) -> list[Message]:
    return [
        message(Said(stored=call), most_lines=MAX_RESULT_LINES),
        message(Said(stored=result), before=call, most_lines=MAX_RESULT_LINES),
    ]
