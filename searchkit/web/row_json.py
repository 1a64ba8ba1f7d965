"""How a row of a conversation is told to the page: what was said, how a call reads, and where agents began."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from searchkit.backends.base import Backend, Stored
from searchkit.conversation import types as conversations
from searchkit.conversation.pages import agent_id
from searchkit.conversation.turns import count_steps, describe
from searchkit.conversation.types import Break, Entry, Folded, Inside, Said
from searchkit.query.types import Query
from searchkit.render import conversation, document
from searchkit.render.wire.base import Agent, Time, Wire, agent
from searchkit.sources.tools import starts_agent
from searchkit.text.format import stamp
from searchkit.types import Kind

# What is shown of one text at first; the rest is fetched when it is wanted. A screen holds some 4,000 characters.
MOST_CHARACTERS = 12_000
MOST_DIFF_ROWS = 400

Marks = list[tuple[int, int]]


class StartedAgent(Agent, frozen=True, kw_only=True):
    """An agent, and the id that its conversation is read by."""

    first: str


class RecordPictures(Wire, frozen=True, kw_only=True):
    """How many pictures a record has."""

    uuid: str
    count: int


class Diff(Wire, frozen=True, kw_only=True, tag_field="type", tag="diff"):
    """Lines of a file, each with the sign of a difference before it, and how many more there are."""

    path: str
    rows: list[tuple[str, str]]
    more: int


class Command(Wire, frozen=True, kw_only=True, tag_field="type", tag="command"):
    """A command, and what it is for."""

    text: str
    purpose: str


class Code(Wire, frozen=True, kw_only=True, tag_field="type", tag="code"):
    """A piece of a program."""

    text: str


class Text(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Anything else."""

    text: str


class Row(Wire, frozen=True, kw_only=True):
    """A row of a conversation: what was said, steps that are folded, or a break."""

    uuid: str | None
    part: str | UnsetType = UNSET
    kind: Annotated[str, Meta(description="A kind of part, or steps (folded), or break.")]
    role: str | UnsetType = UNSET
    tool: str | UnsetType | None = UNSET
    starts_agent: Annotated[bool | UnsetType, Meta(description="Whether the tool starts agents.")] = UNSET
    call: str | UnsetType | None = UNSET
    is_error: bool | UnsetType = UNSET
    timestamp: Time | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    text: str
    cut: Annotated[int | UnsetType, Meta(description="Characters that are left out; /v1/parts has them.")] = UNSET
    marks: Marks | UnsetType = UNSET
    hit: bool | UnsetType = UNSET
    pieces: list[Diff | Command | Code | Text] | UnsetType = UNSET
    agent: StartedAgent | UnsetType | None = UNSET
    agents: Annotated[
        list[StartedAgent] | UnsetType, Meta(description="All that the call started; a workflow starts several.")
    ] = UNSET
    steps: int | UnsetType = UNSET
    pictures: list[RecordPictures]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What rows need to know beside their texts: the question, and agents by their calls."""

    query: Query | None = None
    started: Mapping[str, Sequence[conversations.Agent]] = {}


def row(backend: Backend, entry: Entry, around: Around) -> Row:
    """Tell one row, without pictures: which row shows those of a record depends on what lies around it."""
    match entry:
        case Said():
            return _said(backend, entry, around)
        case Folded():
            steps = entry.steps
            return Row(uuid=steps[0].uuid, kind="steps", text=describe(steps), steps=count_steps(steps), pictures=[])
        case Break():
            time = stamp(entry.time)
            return Row(uuid=entry.record, kind="break", text=entry.reason.value, timestamp=time, pictures=[])
        case Inside():
            raise AssertionError("agents have pages of their own")


def marks(backend: Backend, query: Query | None, text: str) -> Marks:
    """Return where in a text something stands that is asked for."""
    return list(backend.words.highlight(query, text)) if query is not None else []


def started(one: conversations.Agent) -> StartedAgent:
    """Tell an agent, and how its conversation is read."""
    return StartedAgent(**asdict(agent(one)), first=agent_id(one))


def _said(backend: Backend, said: Said, around: Around) -> Row:
    stored = said.stored
    part = stored.part
    text = part.text[:MOST_CHARACTERS]
    found = marks(backend, around.query, text)
    agents = around.started.get(part.call or "", ()) if part.kind is Kind.TOOL_CALL else ()
    told = [started(one) for one in agents]
    return Row(
        uuid=part.uuid,
        part=stored.id,
        kind=part.kind.value,
        role=part.role.value,
        tool=part.tool,
        starts_agent=starts_agent(part.tool),
        call=part.call,
        is_error=part.is_error,
        timestamp=stamp(stored.link.time),
        model=stored.link.context.model,
        text=text,
        cut=len(part.text) - len(text),
        marks=found,
        hit=said.is_hit,
        pieces=[_piece(one) for one in _pieces(stored)],
        agent=told[0] if told else None,
        agents=told,
        pictures=[],
    )


def _pieces(stored: Stored) -> Sequence[document.Piece]:
    """Take a call apart; one that is very long is shown as text, cut."""
    part = stored.part
    return conversation.call_pieces(part) if part.kind is Kind.TOOL_CALL and len(part.text) <= MOST_CHARACTERS else ()


def _piece(piece: document.Piece) -> Diff | Command | Code | Text:
    match piece:
        case document.Diff():
            rows = [(row.sign, row.text) for row in piece.rows[:MOST_DIFF_ROWS]]
            return Diff(path=piece.path, rows=rows, more=len(piece.rows) - len(rows))
        case document.Command():
            return Command(text=piece.text, purpose=piece.purpose)
        case document.Code():
            return Code(text=piece.text)
        case _:
            return Text(text=piece.text)
