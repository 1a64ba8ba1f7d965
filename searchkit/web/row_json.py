"""How a row of a conversation is told to the page: what was said, how a call reads, and where agents began."""

from collections.abc import Mapping, Sequence

import msgspec

from searchkit.backends.base import Backend, Stored
from searchkit.conversation.pages import agent_id
from searchkit.conversation.types import Agent, Break, Entry, Folded, Inside, Said
from searchkit.query.types import Query
from searchkit.render import calls
from searchkit.render.answer_json import Fields, agent_fields
from searchkit.render.document import Code, Command, Diff, Piece
from searchkit.render.folded import folded, number
from searchkit.text.format import stamp
from searchkit.types import Kind

# What is shown of one text at first; the rest is fetched when it is wanted. A screen holds some 4,000 characters.
MOST_CHARACTERS = 12_000
MOST_DIFF_ROWS = 400


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What rows need to know beside their texts: the question, and agents by their calls."""

    query: Query | None = None
    started: Mapping[str, Sequence[Agent]] = {}


def row(backend: Backend, entry: Entry, around: Around) -> Fields:
    """Tell one row, without pictures: which row shows those of a record depends on what lies around it."""
    match entry:
        case Said():
            return _said(backend, entry, around)
        case Folded():
            return {
                "uuid": entry.steps[0].uuid,
                "kind": "steps",
                "text": folded(entry.steps),
                "steps": number(entry.steps),
            }
        case Break():
            time = stamp(entry.time)
            return {"uuid": entry.record, "kind": "break", "text": entry.reason.value, "timestamp": time}
        case Inside():
            raise AssertionError("agents have pages of their own")


def marks(backend: Backend, query: Query | None, text: str) -> list[list[int]]:
    """Return where in a text something stands that is asked for."""
    return [list(span) for span in backend.words.highlight(query, text)] if query is not None else []


def _said(backend: Backend, said: Said, around: Around) -> Fields:
    stored = said.stored
    part = stored.part
    text = part.text[:MOST_CHARACTERS]
    found = marks(backend, around.query, text)
    agents = around.started.get(part.call or "", ()) if part.kind is Kind.TOOL_CALL else ()
    told = [{**agent_fields(agent), "first": agent_id(agent)} for agent in agents]
    return {
        "uuid": part.uuid,
        "part": stored.id,
        "kind": part.kind.value,
        "role": part.role.value,
        "tool": part.tool,
        "call": part.call,
        "is_error": part.is_error,
        "timestamp": stamp(stored.link.time),
        "model": stored.link.context.model,
        "text": text,
        "cut": len(part.text) - len(text),
        "marks": found,
        "hit": said.is_hit,
        "pieces": [_piece(one) for one in _pieces(stored)],
        "agent": told[0] if told else None,
        "agents": told,
    }


def _pieces(stored: Stored) -> Sequence[Piece]:
    """Take a call apart; one that is very long is shown as text, cut."""
    part = stored.part
    return calls.pieces(part) if part.kind is Kind.TOOL_CALL and len(part.text) <= MOST_CHARACTERS else ()


def _piece(piece: Piece) -> Fields:
    match piece:
        case Diff():
            rows = [[row.sign, row.text] for row in piece.rows[:MOST_DIFF_ROWS]]
            return {"type": "diff", "path": piece.path, "rows": rows, "more": len(piece.rows) - len(rows)}
        case Command():
            return {"type": "command", "text": piece.text, "purpose": piece.purpose}
        case Code():
            return {"type": "code", "text": piece.text}
        case _:
            return {"type": "text", "text": piece.text}
