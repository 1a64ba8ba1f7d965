"""What is told of a conversation or a session, in order, whatever it is shown on.

`conversation.py` and `outline.py` compose documents; `screen.py`, `markdown.py` and `html.py` write
them. Texts are as the transcript has them: who writes them makes them safe for the place they go to.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec


class Prose(msgspec.Struct, frozen=True, kw_only=True):
    """Words, which may be broken between lines."""

    text: str


class Code(msgspec.Struct, frozen=True, kw_only=True):
    """Text whose lines are kept, in a language if one was named."""

    text: str
    language: str | None = None


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What was typed into a shell, and what it was said to be for."""

    text: str
    purpose: str = ""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answered."""

    text: str
    is_error: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a change: added (+), removed (-), unchanged ( ), or a word about lines that are not shown (@)."""

    sign: str
    text: str


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """What a call changed in a file."""

    path: str
    rows: Sequence[Row]


Piece = Prose | Code | Command | Output | Diff


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said or did.

    One that is joined stands right under the message before it, as a result does under its call. One that
    is dated tells the day with its time. Of a text so many lines are shown unless all are wanted. Depth
    counts the agents that it is inside of.
    """

    uuid: str
    speaker: str
    time: int | None
    pieces: Sequence[Piece]
    session: str | None = None
    is_hit: bool = False
    is_error: bool = False
    is_joined: bool = False
    is_dated: bool = False
    most_lines: int = 12
    depth: int = 0


class Tone(StrEnum):
    """What a note is about."""

    STEPS = "steps"
    GAP = "gap"
    BREAK = "break"
    WAY = "way"
    MORE = "more"
    AGENT = "agent"
    ABOUT = "about"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A line that nobody said, and what to type to see more."""

    text: str
    tone: Tone
    command: str | None = None
    depth: int = 0


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What failed and what passed later, for side by side."""

    text: str
    failed: Sequence[Message]
    passed: Sequence[Message]


Block = Message | Note | Compared


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A title, what is known besides it, and what is told."""

    title: str
    about: Sequence[Note]
    blocks: Sequence[Block]
