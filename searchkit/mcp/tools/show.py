"""The tool `show`: a message inside its conversation, or a session turn by turn."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from searchkit.conversation.lookup import must_say
from searchkit.conversation.turns import describe
from searchkit.conversation.types import Break, Conversation, Entry, Folded, Outline, Said, Turn
from searchkit.engine import Engine
from searchkit.mcp.caller import Caller
from searchkit.mcp.quoting import (
    ASKED_CHARACTERS,
    PROJECT_CHARACTERS,
    TITLE_CHARACTERS,
    Message,
    join,
    line,
    message,
    message_lines,
    moment,
)
from searchkit.mcp.tools.base import Answer, Arguments, Tool
from searchkit.render.outline import ways
from searchkit.render.wording import REASONS
from searchkit.text.format import count
from searchkit.types import Heading

# All texts together: 1,500 tokens of prose. A message that was asked for takes two thirds of it, if it needs them.
MAX_CHARACTERS = 6_000
HIT_CHARACTERS = 4_000
MIN_CHARACTERS = 80
NEAR_CHARACTERS = 400
MAX_MESSAGES = 30
# Turns of a session on a page.
MAX_TURNS = 12
OUTCOME_CHARACTERS = 240
HINT = "search and sessions return ids"


class ShowArguments(Arguments, frozen=True, kw_only=True):
    """What `show` takes."""

    id: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=200,
            description="The uuid of a message or of a session, from any result, or the beginning of one.",
        ),
    ]
    before: Annotated[int, Meta(ge=0, le=10, description="Turns before the message.")] = 1
    after: Annotated[int, Meta(ge=0, le=10, description="Turns after the message.")] = 1
    offset: Annotated[
        int,
        Meta(ge=0, le=100_000_000, description="Where to go on in a long message or session: `next_offset`."),
    ] = 0


class ShowAnswer(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """A message inside its conversation, or a session turn by turn."""

    shows: Literal["message", "session"] = "message"
    session: str = ""
    title: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    messages: list[Message] = []
    earlier: Annotated[int, Meta(description="Turns before these.")] = 0
    later: Annotated[int, Meta(description="Turns after these.")] = 0
    next_offset: Annotated[int | None, Meta(description="Where a long message or session goes on.")] = None
    fixed_by: Annotated[list[str], Meta(description="Where what failed here passed later.")] = []
    is_abandoned: Annotated[bool, Meta(description="The conversation later went another way.")] = False

    def lines(self) -> Iterator[str]:
        """Write where it is from, and each message."""
        more = f"{self.earlier} turns before, {self.later} after"
        yield join(self.project, self.branch, self.title, f"session {self.session}", more)
        yield from (row for one in self.messages for row in message_lines(one))


def run(engine: Engine, asked: ShowArguments, caller: Caller) -> ShowAnswer:
    """Show what an id means."""
    id = asked.id.strip().partition("#")[0]
    must_say(id, HINT)
    if id not in engine.named([id]) and engine.messages(id):
        found = engine.show(id, asked.before, asked.after)
        # The engine puts the beginning of the conversation in place of a title.
        if found.record.lower().startswith(id.lower()) or found.session is None:
            return _conversation(found, asked.offset)
        id = found.session.id
    return _outline(engine.outline(engine.session_meant(id, HINT).id), asked.offset)


def _conversation(found: Conversation, offset: int) -> ShowAnswer:
    """Show a message and the turns around it; `offset` goes on in the message itself."""
    hits = [entry for entry in found.entries if isinstance(entry, Said) and entry.is_hit]
    longest = max((len(entry.stored.part.text) for entry in hits), default=0)
    if offset:
        messages = [message(entry.stored, MAX_CHARACTERS, offset, is_hit=True) for entry in hits]
        shown = offset + MAX_CHARACTERS
    else:
        messages = _messages(_nearest(found.entries))
        shown = HIT_CHARACTERS
    fixed = [fix.passed.part.uuid for fix in found.fixes]
    return replace(
        _place(found.session),
        agent=found.above[-1].name if found.above else "",
        messages=messages,
        earlier=found.earlier,
        later=found.later,
        next_offset=shown if longest > shown else None,
        fixed_by=fixed,
        is_abandoned=found.left_at is not None,
    )


def _nearest(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Keep as many entries as are shown, those around the message."""
    at = next((number for number, one in enumerate(entries) if isinstance(one, Said) and one.is_hit), 0)
    first = max(0, min(at - MAX_MESSAGES // 2, len(entries) - MAX_MESSAGES))
    return entries[first : first + MAX_MESSAGES]


def _messages(entries: Sequence[Entry]) -> list[Message]:
    """Show entries: the message as far as there is room, the others cut alike."""
    hits = sum(
        min(len(one.stored.part.text), HIT_CHARACTERS) for one in entries if isinstance(one, Said) and one.is_hit
    )
    others = sum(isinstance(one, Said) and not one.is_hit for one in entries)
    most = max(MIN_CHARACTERS, min(NEAR_CHARACTERS, (MAX_CHARACTERS - hits) // max(1, others)))
    return [_entry(one, most) for one in entries]


def _entry(entry: Entry, most: int) -> Message:
    match entry:
        case Said(stored=stored, is_hit=is_hit):
            return message(stored, HIT_CHARACTERS if is_hit else most, is_hit=is_hit)
        case Folded(steps=steps):
            return Message(uuid=steps[0].uuid, kind="steps", text=line(describe(steps), most))
        case Break(reason=reason, record=record, time=time):
            return Message(uuid=record, kind="break", time=moment(time), text=REASONS[reason])
        case _:
            agent = entry.agent
            return Message(uuid=agent.caller or "", kind="agent", text=line(agent.description, most))


def _outline(found: Outline, offset: int) -> ShowAnswer:
    """Show a session: what was asked in each turn, what was done, and what came of it."""
    turns = [turn for way in ways(found) for turn in way.strand.turns]
    page = turns[offset : offset + MAX_TURNS]
    return replace(
        _place(found.session),
        shows="session",
        messages=[one for turn in page for one in _turn(turn)],
        earlier=min(offset, len(turns)),
        later=max(0, len(turns) - offset - MAX_TURNS),
        next_offset=offset + MAX_TURNS if len(turns) > offset + MAX_TURNS else None,
    )


def _turn(turn: Turn) -> list[Message]:
    said = []
    if turn.left_out:
        text = f"{count(turn.left_out, 'turn')} left out: search finds what is in them"
        said.append(Message(uuid=turn.record, kind="break", text=text))
    if turn.asked is not None:
        said.append(message(turn.asked, ASKED_CHARACTERS))
    if turn.steps:
        done = line(describe(turn.steps), OUTCOME_CHARACTERS)
        said.append(Message(uuid=turn.steps[0].uuid, kind="steps", text=done))
    if turn.outcome is not None:
        said.append(message(turn.outcome, OUTCOME_CHARACTERS))
    return said


def _place(session: Heading | None) -> ShowAnswer:
    """Begin an answer with where it is from."""
    if session is None:
        return ShowAnswer()
    return ShowAnswer(
        session=session.id,
        title=line(session.title, TITLE_CHARACTERS),
        project=line(session.project, PROJECT_CHARACTERS),
        branch=line(session.branch, TITLE_CHARACTERS),
    )


TOOL = Tool(
    name="show",
    title="Show a message or a session",
    description="Read a message inside its conversation, with the turns around it, or, by the id of a session, the "
    "session turn by turn. Use it after another tool returned a uuid. Long messages and sessions go on at "
    "`next_offset`.",
    arguments=ShowArguments,
    answer=ShowAnswer,
    run=run,
)
