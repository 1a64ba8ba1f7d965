"""How a part reads as a message: who says it, and in which pieces."""

from searchkit.backends.base import Stored
from searchkit.conversation.types import Said
from searchkit.render import calls, fences
from searchkit.render.document import Message, Output, Piece
from searchkit.render.search import speaker
from searchkit.types import Kind

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
        return calls.pieces(part)
    if part.kind is Kind.TOOL_RESULT:
        return [Output(text=part.text.rstrip(), is_error=part.is_error)]
    return fences.pieces(part.text)
