"""What is shown of a conversation or a session, in order, in whatever form, and its code in colours.

`conversation.py` and `outline.py` compose documents; `terminal.py`, `markdown.py` and `html.py` write
them. Texts are as the transcript has them: who writes them makes them safe for the place they go to.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pygments.lexer import Lexer


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


# Code in colours: which stretch of a line is a keyword, a name, a text, a number or a comment.


# A stretch of a line: what it is, as a short name, or nothing for what is left as it is; and its text.
Span = tuple[str, str]
# What transcripts name after a fence, and nothing else: a text must not choose among hundreds of lexers.
LANGUAGES = frozenset(
    "bash c c++ cpp c# csharp css cs diff dockerfile go golang graphql html ini java javascript js json jsonc jsx"
    " kotlin lua make makefile nix perl php powershell proto py python r rb ruby rs rust scala scss sh shell sql svelte"
    " swift terraform toml ts tsx typescript vue xml yaml yml zig zsh".split()
)
# Names that lexers do not go by.
_ALIASES = {"jsonc": "json", "svelte": "html", "vue": "html"}
# Longer code is left as it is: a lexer may take time with the square of a hostile line.
MOST_CHARACTERS = 20_000


def spans(code: Code) -> Iterator[list[Span]]:
    """Yield each line as stretches; code in no known language, or too long, is one stretch a line."""
    name = _ALIASES.get(code.language or "", code.language)
    if code.language not in LANGUAGES or name is None or len(code.text) > MOST_CHARACTERS:
        yield from ([("", line)] for line in code.text.split("\n"))
        return
    line: list[Span] = []
    for role, tokens in groupby(_lexer(name).get_tokens(code.text), lambda token: _role(str(token[0]))):
        first, *others = "".join(text for _, text in tokens).split("\n")
        line.append((role, first))
        for other in others:
            yield line
            line = [(role, other)]


@cache
def _lexer(name: str) -> "Lexer":
    # A tenth of a second, paid only where colours are shown.
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=True)


_ROLES = {
    "Token.Comment": "comment",
    "Token.Keyword": "keyword",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Name.Function": "name",
    "Token.Name.Class": "name",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "name",
    "Token.Name.Builtin": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Generic.Deleted": "removed",
    "Token.Generic.Inserted": "added",
}


@cache
def _role(token: str) -> str:
    """Say what a kind of token is, or one that it is a kind of."""
    while token:
        if token in _ROLES:
            return _ROLES[token]
        token = token.rpartition(".")[0]
    return ""
