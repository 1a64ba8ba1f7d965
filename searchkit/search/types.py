"""The nouns that answers are made of."""

from collections.abc import Mapping, Sequence

import msgspec

from searchkit.backends.base import Hit, Stored
from searchkit.conversation.types import Entry
from searchkit.query.types import Query
from searchkit.types import Counts, Heading, Retention


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What is indexed and how far; `unreachable` and `damage` say why transcripts or vectors are not counted.

    `retention` says what Claude Code deletes and when, unless transcripts cannot be looked at.
    """

    index: str
    roots: Sequence[str]
    counts: Counts
    index_bytes: int
    files_behind: int
    bytes_behind: int
    unreachable: str | None = None
    damage: str | None = None
    embedded: int = 0
    to_embed: int = 0
    retention: Retention | None = None


class Ranked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A hit with its place in the ranking: what its kind weighs, its own score, and the final one, with support.

    Where meaning was asked for, too, the own score is made of what words and meaning gave. Where a model
    reranked, the final one is made with its verdict. A narration says what is done next, and concludes nothing.
    """

    hit: Hit
    weight: float
    own: float
    score: float
    words: float | None = None
    meaning: float | None = None
    judged: float | None = None
    is_narration: bool = False
    # What the score of the words and their coverage were raised to.
    powers: tuple[float, float] = (1.0, 1.0)


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a text on one line, and where in it the words are that were asked for."""

    text: str
    highlights: Sequence[tuple[int, int]] = ()


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A hit with its part and the passage to show of it."""

    ranked: Ranked
    stored: Stored
    passage: Passage


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The best hit of a session with the conversation around it, and further passages of that session."""

    best: Shown
    session: Heading | None
    thread: Sequence[Entry] = ()
    others: Sequence[Shown] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, or why it found nothing.

    `total` counts the parts that hold what was asked for: one of two words, and of more at least half, rare words
    counting more, or any where none holds half; where none holds any, those that are near in meaning. So it is what
    facets count, and does not depend on how many results are wanted.
    `hidden` counts what only the filters kept away, `unseen` what a pattern was not tried on, `pending`
    the parts that are not searchable yet.
    `missing` are the words that nothing holds, and `suggestions` words like them; `respelled` says which of those
    were looked for instead. `embedded` counts the
    parts that could be found by meaning, where that was asked for; `without_meaning` says why it was not, and
    `unjudged` why no model reranked where one was wanted. `damage` says what of the index is damaged, where texts were
    read that are.
    """

    query: Query
    results: Sequence[Result]
    total: int
    parts: int
    pending: int
    embedded: int = 0
    without_meaning: str = ""
    unjudged: str = ""
    damage: str | None = None
    hidden: int = 0
    unseen: int = 0
    missing: Sequence[str] = ()
    suggestions: Mapping[str, Sequence[str]] = {}
    respelled: Mapping[str, str] = {}
    facets: Mapping[str, Mapping[str, int]] = {}
    seconds: float = 0.0
