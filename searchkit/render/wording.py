"""The words for sessions, agents, branches, breaks and gaps in time, the same in every form."""

import re

import msgspec

from searchkit.conversation.types import Agent, Branch, Reason
from searchkit.render.document import Note, Tone
from searchkit.text import sanitize
from searchkit.text.format import NO_DATE, count, day, lasting, minute
from searchkit.types import Heading

# Of a uuid where it only tells one from others nearby, and of an id that is no uuid.
SHORT_UUID = 8
SHORT_ID = 36
_UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

REASONS = {
    Reason.COMPACTED: "compacted here: Claude went on from a summary of what is above",
    Reason.MISSING: "what came before is missing: no transcript that was indexed holds it",
    Reason.CYCLE: "what came before leads back here in a circle, so it is not shown",
}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What was typed, so that what is suggested can be typed next: turns around, and the index if one was named."""

    before: int = 0
    after: int = 0
    has_agents: bool = False
    index: str | None = None

    def command(self, name: str, id: str) -> str | None:
        """Write a command about an id, which a shell takes for nothing else; None where it cannot be typed."""
        where = ["--index", self.index] if self.index else []
        return sanitize.command_line("searchkit", name, *where, *(["--"] if id.startswith("-") else []), id)


def short(id: str) -> str:
    """Shorten a uuid to its beginning; other ids may begin alike, and stay as they are unless they are long."""
    return id[:SHORT_UUID] if _UUID.fullmatch(id) else id[:SHORT_ID]


def title(session: Heading | None) -> str:
    """Name a session."""
    return (session.title if session else None) or "(no title)"


def place(session: Heading) -> list[str]:
    """Say on two lines where a session was, which it is, and whether its transcript is still there."""
    where = " · ".join(filter(None, (session.project, session.branch)))
    which = f"session {session.id}" + (" · transcript gone" if session.is_gone else "")
    return [where, which] if where else [which]


def agent(one: Agent) -> str:
    """Name an agent by what it is, what it was to do, and its id."""
    kind = f"agent {one.type}" if one.type else "agent"
    return f"{kind}: {one.description} ({one.name})" if one.description else f"{kind} {one.name}"


def asked_by(one: Agent, session: Heading | None) -> str:
    """Say that a call, which is to be named after this, started an agent, and where if that is not this session."""
    elsewhere = f" in session {one.session}" if session is None or session.id != one.session else ""
    if one.caller is None:
        return f"{agent(one)}{elsewhere}; which call started it is not known"
    return f"{agent(one)}, asked{elsewhere} by"


def branch(one: Branch, is_elsewhere: bool = False) -> str:
    """Say that the conversation also went another way, how far, and whether it was left."""
    also = "elsewhere it" if is_elsewhere else "also"
    length = f"{count(one.records, 'record')}, until {minute(one.ended)}" if one.ended else count(one.records, "record")
    if one.session is not None:
        return f"{also} went on in session {one.session} ({length})"
    left = ", abandoned" if one.is_abandoned else ""
    if one.at is None:
        return f"the session also begins elsewhere{left} ({length})"
    return f"{also} went another way{left} ({length})"


# The time that passed between two messages, where it is worth a line.

# People come back to a conversation after a night, or after lunch; what takes a minute less is one sitting.
LEAST_MILLISECONDS = 3_600_000


def gap(before: int | None, after: int | None, depth: int = 0) -> list[Note]:
    """Say that another day began, and how long nothing was said; times that run backwards say nothing."""
    if before is None or after is None or after <= before:
        return []
    date = day(after)
    is_new_day = date not in (day(before), NO_DATE)
    later = f"{lasting(before, after)} later" if after - before >= LEAST_MILLISECONDS else ""
    text = ", ".join(filter(None, (date if is_new_day else "", later)))
    return [Note(text=text, tone=Tone.GAP, depth=depth)] if text else []
