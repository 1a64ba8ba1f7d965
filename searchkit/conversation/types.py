"""The nouns that conversations are made of: threads, what is shown of them, and the outline of a session."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from searchkit.backends.base import Node, Step, Stored
from searchkit.types import Figures, Heading, Session, Touch


class Reason(StrEnum):
    """Why a way through a conversation is broken at a record."""

    COMPACTED = "compacted"
    MISSING = "missing"
    CYCLE = "cycle"


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """A subagent: what it is, and where they are known, the call that started it and the record of that call."""

    name: str
    session: str
    type: str | None = None
    description: str | None = None
    caller: str | None = None
    call: str | None = None


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """Another way that a conversation went: from which record, with which, and how far.

    It is abandoned where the conversation later went on elsewhere, and in another session where that
    one began as a copy of this. Where what came before it is missing, or its first prompt was edited, it
    leads off no record.
    """

    at: str | None
    first: str
    records: int
    ended: int | None = None
    session: str | None = None
    is_abandoned: bool = False


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation around a record, all of it, in the order in which a person reads it; texts are not fetched.

    `above` are the agents whose work this is, outermost first; `strays` those of the session that no call
    is known to have started. `ending` says why the way back ended
    at a record that is no beginning. `left_at` is the record where the conversation later went on
    another way than to this record.
    """

    record: str
    nodes: Sequence[Node]
    branches: Sequence[Branch] = ()
    above: Sequence[Agent] = ()
    strays: Sequence[Agent] = ()
    ending: Reason | None = None
    left_at: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a conversation with its text."""

    stored: Stored
    is_hit: bool = False


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """What was done between two parts that are shown, without the texts."""

    steps: Sequence[Step]


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the conversation was cut, and why; the record is the first after it."""

    reason: Reason
    record: str
    time: int | None = None


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent did, at the place of the call that started it."""

    agent: Agent
    entries: "Sequence[Entry]"


Entry = Said | Folded | Break | Inside


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """A result that failed, and the next one of the same command or file that did not, each after its call.

    Between them lie so many edits, of which the last few are there.
    """

    edits: int
    failed_call: Stored
    failed: Stored
    passed_call: Stored
    passed: Stored
    changes: Sequence[Stored] = ()


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown around a record, and what more there is.

    The record may be another than the one that was asked for, where that is a title: it leads nowhere.
    `earlier` and `later` count the turns that are not shown. `also_in` are the other sessions that the
    record lives in.
    """

    record: str
    session: Heading | None
    entries: Sequence[Entry]
    earlier: int = 0
    later: int = 0
    branches: Sequence[Branch] = ()
    above: Sequence[Agent] = ()
    fixes: Sequence[Fix] = ()
    also_in: Sequence[str] = ()
    left_at: str | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked, what was done, and what came of it.

    The first turn of an agent asks what its caller wanted. A turn after a compaction begins with the
    summary instead, and what stands before the first prompt has none. Agents and branches are those
    that were started in the turn. `left_out` counts the turns before it that are not told, nor what leads off them.
    How long it took is known where the client wrote it down.
    """

    record: str
    time: int | None
    asked: Stored | None = None
    steps: Sequence[Step] = ()
    outcome: Stored | None = None
    is_compacted: bool = False
    agents: "Sequence[Work]" = ()
    branches: "Sequence[Strand]" = ()
    left_out: int = 0
    duration_ms: int | None = None


class Strand(msgspec.Struct, frozen=True, kw_only=True):
    """One way through a session, turn by turn.

    `ending` says why it begins at a record that is no beginning; `session` is set where the way goes on in
    another session, whose turns are not told here.
    """

    turns: Sequence[Turn]
    ending: Reason | None = None
    session: str | None = None
    is_abandoned: bool = False


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent did."""

    agent: Agent
    strands: Sequence[Strand]


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """A whole session: its ways, the agents that no call is known for, what it cost, and the files it touched.

    `turns_ms` adds up the turns of which the client wrote down how long they took.
    """

    session: Session
    strands: Sequence[Strand]
    agents: Sequence[Work] = ()
    figures: Figures = Figures()
    models: Sequence[str] = ()
    files: Sequence[Touch] = ()
    facts: Mapping[str, str] = {}
    turns_ms: int | None = None
