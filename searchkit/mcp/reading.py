"""The tool that reads on: a message inside its conversation, or a session turn by turn."""

from collections.abc import Sequence

from msgspec.structs import replace

from searchkit.conversation.lookup import must_say
from searchkit.conversation.types import Break, Conversation, Entry, Folded, Outline, Said, Turn
from searchkit.engine import Engine
from searchkit.mcp import answers, arguments
from searchkit.mcp.caller import Caller
from searchkit.mcp.quoting import ASKED_CHARACTERS, TITLE_CHARACTERS, line, message, moment
from searchkit.render.folded import folded
from searchkit.render.ways import ways
from searchkit.render.wording import REASONS
from searchkit.text.format import count
from searchkit.types import Heading

# All texts together: 1,500 tokens of prose. A message that was asked for takes two thirds of it, if it needs them.
MOST_CHARACTERS = 6_000
HIT_CHARACTERS = 4_000
LEAST_CHARACTERS = 80
NEAR_CHARACTERS = 400
MOST_MESSAGES = 30
# Turns of a session on a page.
MOST_TURNS = 12
OUTCOME_CHARACTERS = 240
HINT = "search and sessions return ids"


def show(engine: Engine, asked: arguments.Show, caller: Caller) -> answers.Show:
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


def _conversation(found: Conversation, offset: int) -> answers.Show:
    """Show a message and the turns around it; `offset` goes on in the message itself."""
    hits = [entry for entry in found.entries if isinstance(entry, Said) and entry.is_hit]
    longest = max((len(entry.stored.part.text) for entry in hits), default=0)
    if offset:
        messages = [message(entry.stored, MOST_CHARACTERS, offset, is_hit=True) for entry in hits]
        shown = offset + MOST_CHARACTERS
    else:
        messages = _messages(_nearest(found.entries))
        shown = HIT_CHARACTERS
    fixed = [fix.passed.part.uuid for fix in found.fixes]
    return replace(
        _placed(found.session),
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
    first = max(0, min(at - MOST_MESSAGES // 2, len(entries) - MOST_MESSAGES))
    return entries[first : first + MOST_MESSAGES]


def _messages(entries: Sequence[Entry]) -> list[answers.Message]:
    """Show entries: the message as far as there is room, the others cut alike."""
    hits = sum(
        min(len(one.stored.part.text), HIT_CHARACTERS) for one in entries if isinstance(one, Said) and one.is_hit
    )
    others = sum(isinstance(one, Said) and not one.is_hit for one in entries)
    most = max(LEAST_CHARACTERS, min(NEAR_CHARACTERS, (MOST_CHARACTERS - hits) // max(1, others)))
    return [_entry(one, most) for one in entries]


def _entry(entry: Entry, most: int) -> answers.Message:
    match entry:
        case Said(stored=stored, is_hit=is_hit):
            return message(stored, HIT_CHARACTERS if is_hit else most, is_hit=is_hit)
        case Folded(steps=steps):
            return answers.Message(uuid=steps[0].uuid, kind="steps", text=line(folded(steps), most))
        case Break(reason=reason, record=record, time=time):
            return answers.Message(uuid=record, kind="break", time=moment(time), text=REASONS[reason])
        case _:
            agent = entry.agent
            return answers.Message(uuid=agent.caller or "", kind="agent", text=line(agent.description, most))


def _outline(found: Outline, offset: int) -> answers.Show:
    """Show a session: what was asked in each turn, what was done, and what came of it."""
    turns = [turn for way in ways(found) for turn in way.strand.turns]
    page = turns[offset : offset + MOST_TURNS]
    return replace(
        _placed(found.session),
        shows="session",
        messages=[one for turn in page for one in _turn(turn)],
        earlier=min(offset, len(turns)),
        later=max(0, len(turns) - offset - MOST_TURNS),
        next_offset=offset + MOST_TURNS if len(turns) > offset + MOST_TURNS else None,
    )


def _turn(turn: Turn) -> list[answers.Message]:
    said = []
    if turn.left_out:
        text = f"{count(turn.left_out, 'turn')} left out: search finds what is in them"
        said.append(answers.Message(uuid=turn.record, kind="break", text=text))
    if turn.asked is not None:
        said.append(message(turn.asked, ASKED_CHARACTERS))
    if turn.steps:
        done = line(folded(turn.steps), OUTCOME_CHARACTERS)
        said.append(answers.Message(uuid=turn.steps[0].uuid, kind="steps", text=done))
    if turn.outcome is not None:
        said.append(message(turn.outcome, OUTCOME_CHARACTERS))
    return said


def _placed(session: Heading | None) -> answers.Show:
    """Say where something is from."""
    if session is None:
        return answers.Show()
    return answers.Show(
        session=session.id,
        title=line(session.title, TITLE_CHARACTERS),
        project=line(session.project, 4 * TITLE_CHARACTERS),
        branch=line(session.branch, TITLE_CHARACTERS),
    )
