"""The nouns that packs for other agents are made of."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from searchkit.backends.base import Stored
from searchkit.conversation.types import Folded, Said
from searchkit.search.types import Answer, Shown
from searchkit.types import Heading

# By the id of a part, where in its text the words are that were asked for.
Marks = Mapping[str, Sequence[tuple[int, int]]]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that may be quoted, with its turn and the files that the turn touched.

    `answer` is the id of the text that answers the passage, where that is no text itself.
    """

    shown: Shown
    session: Heading | None
    turn: Sequence[Said | Folded]
    marks: Marks = {}
    answer: str | None = None
    files: Sequence[str] = ()


class Place(StrEnum):
    """What a quotation is in its excerpt."""

    QUESTION = "question"
    PASSAGE = "passage"
    BESIDE = "beside"
    OUTCOME = "outcome"


class Quotation(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a conversation, and as much of its text as there is room for; what is left out is said in it."""

    place: Place
    stored: Stored
    text: str


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A passage with what led to it and what came of it, in order, and all that it is cited by."""

    number: int
    shown: Shown
    session: Heading | None
    entries: Sequence[Quotation | Folded]
    files: Sequence[str] = ()

    def quoted(self, place: Place) -> str | None:
        """Return the first text that is quoted as this, if there is one."""
        texts = (entry.text for entry in self.entries if isinstance(entry, Quotation) and entry.place is place)
        return next(texts, None)


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """What another agent should know, the most useful first, and how many tokens it takes.

    Where it is not sure to be about what was asked, it holds the nearest there is.
    """

    answer: Answer
    max_tokens: int
    tokens: int = 0
    is_sure: bool = True
    excerpts: Sequence[Excerpt] = ()
