"""Texts of transcripts as an agent may read them: cut, on one line where that will do, and nothing hidden."""

from searchkit.backends.base import Stored
from searchkit.mcp.answers import Message
from searchkit.text.format import stamp
from searchkit.text.sanitize import one_line, safe

# A title and a prompt are for telling one from another.
TITLE_CHARACTERS = 80
ASKED_CHARACTERS = 160


def line(text: str | None, most: int) -> str:
    """Write a text on one line, cut to so many characters."""
    # What is cut off need not be cleaned; white space folds, and hidden characters go.
    written = one_line((text or "")[: 4 * most])
    return written if len(written) <= most else f"{written[: most - 1]}…"


def moment(milliseconds: int | None) -> str:
    """Write a time to the minute."""
    written = stamp(milliseconds)
    return f"{written[:16]}Z" if written else ""


def message(stored: Stored, most: int, begin: int = 0, is_hit: bool = False) -> Message:
    """Show a part: so many characters of it, from somewhere on."""
    part = stored.part
    text = part.text[begin : begin + most]
    return Message(
        uuid=part.uuid,
        kind=part.kind.value,
        role=part.role.value,
        tool=line(part.tool, TITLE_CHARACTERS),
        is_error=part.is_error,
        time=moment(stored.link.time),
        text=safe(text),
        cut=len(part.text) - len(text),
        is_hit=is_hit,
    )
