"""A message inside its conversation as a document, with what failed beside what passed later."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from searchkit.backends.base import Stored
from searchkit.conversation.turns import describe
from searchkit.conversation.types import Branch, Break, Conversation, Entry, Fix, Folded, Said
from searchkit.render import wording
from searchkit.render.document import Block, Compared, Document, Message, Note, Tone
from searchkit.render.messages import message
from searchkit.render.wording import Asked, gap
from searchkit.sources.tools import starts_agent
from searchkit.text.format import count, day

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
