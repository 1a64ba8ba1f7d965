"""What answers share: errors, entries of a conversation, and agents."""

from typing import Annotated

import msgspec
import orjson
from msgspec import UNSET, Meta, UnsetType

from searchkit.conversation import types as conversation
from searchkit.conversation.turns import count_steps, describe
from searchkit.errors import SearchkitError
from searchkit.text.format import stamp
from searchkit.text.sanitize import escaped
from searchkit.text.secrets import mask_values

# What a thread shows of each part, unless all is wanted: a few thousand characters for a result.
TURN_CHARACTERS = 600

Time = Annotated[str | None, Meta(description="In ISO 8601, in UTC.")]


class Wire(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object of our JSON; a field that may be absent is UNSET where it is."""


class Fault(Wire, frozen=True, kw_only=True):
    """What went wrong, and what to do."""

    kind: str
    message: str
    hint: str


class Error(Wire, frozen=True, kw_only=True):
    """What is answered instead of a result."""

    error: Fault


class Agent(Wire, frozen=True, kw_only=True):
    """What is known of an agent; `caller` is the record of the call that started it."""

    agent: str
    session: str | None
    type: str | None
    description: str | None
    caller: str | None


class Entry(Wire, frozen=True, kw_only=True):
    """One part of a conversation, steps that are folded, a break, or what an agent did."""

    uuid: str | None
    role: str
    kind: Annotated[str, Meta(description="A kind of part, or steps (folded), break or agent.")]
    tool: str | None
    timestamp: Time
    text: str
    cut: Annotated[int | UnsetType, Meta(description="How many characters are not shown.")] = UNSET
    hit: bool
    steps: Annotated[int | UnsetType, Meta(description="How many steps are folded.")] = UNSET
    agent: Agent | UnsetType = UNSET
    thread: "list[Entry] | UnsetType" = UNSET


def encode(value: object, is_indented: bool = False) -> str:
    """Write an answer as JSON that may be printed on a terminal as it is, with what secrets it has masked."""
    builtins, option = msgspec.to_builtins(value), orjson.OPT_INDENT_2 if is_indented else 0
    written = orjson.dumps(builtins, option=option).decode()
    kept = mask_values(builtins, written)
    return escaped(written if kept is builtins else orjson.dumps(kept, option=option).decode())


def error(raised: SearchkitError) -> Error:
    """Make an error of what was raised."""
    return Error(error=Fault(kind=raised.kind, message=raised.message, hint=raised.hint))


def entry(one: conversation.Entry, is_full: bool) -> Entry:
    """Make an entry; texts are cut unless all is wanted."""
    match one:
        case conversation.Said():
            return _said(one, is_full)
        case conversation.Folded():
            return _other(one.steps[0].uuid, "steps", describe(one.steps), steps=count_steps(one.steps))
        case conversation.Break():
            return _other(one.record, "break", one.reason.value, one.time)
        case conversation.Inside():
            return _other(
                one.agent.caller,
                "agent",
                one.agent.description or "",
                agent=agent(one.agent),
                thread=[entry(inside, is_full) for inside in one.entries],
            )


def agent(one: conversation.Agent) -> Agent:
    """Make an agent."""
    return Agent(agent=one.name, session=one.session, type=one.type, description=one.description, caller=one.caller)


def _said(said: conversation.Said, is_full: bool) -> Entry:
    part = said.stored.part
    text = part.text if is_full else part.text[:TURN_CHARACTERS]
    return Entry(
        uuid=part.uuid,
        role=part.role.value,
        kind=part.kind.value,
        tool=part.tool,
        timestamp=stamp(said.stored.link.time),
        text=text,
        cut=len(part.text) - len(text) if len(text) < len(part.text) else UNSET,
        hit=said.is_hit,
    )


def _other(
    uuid: str | None,
    kind: str,
    text: str,
    time: int | None = None,
    *,
    steps: int | UnsetType = UNSET,
    agent: Agent | UnsetType = UNSET,
    thread: list[Entry] | UnsetType = UNSET,
) -> Entry:
    """Make an entry of what is no part, with the names that a part's values have."""
    return Entry(
        uuid=uuid,
        role="assistant" if kind == "steps" else "system",
        kind=kind,
        tool=None,
        timestamp=stamp(time),
        text=text,
        hit=False,
        steps=steps,
        agent=agent,
        thread=thread,
    )
