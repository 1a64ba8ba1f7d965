"""The nouns that answers are made of."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from searchkit.backends.base import Hit, Order, Stored
from searchkit.conversation.types import Entry
from searchkit.query.types import Group, Mode, Query
from searchkit.search.weights import RECIPE, Recipe
from searchkit.types import Counts, Heading, Kind, Retention

if TYPE_CHECKING:
    from searchkit.backends.base import Values


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A question and how to answer it, with the names and defaults of the command line.

    `thread` counts the turns around a hit, `facets` are what matches are counted by, and `rerank` is a cross-encoder by
    name or path.
    """

    query: Query = Query(text="")
    mode: Mode = Mode.HYBRID
    limit: int = 10
    group: Group = Group.SESSION
    sort: Order = Order.RELEVANCE
    thread: int = 1
    facets: Sequence[str] = ()
    rerank: str = ""


class QuestionVectors(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The vectors of a question: by the chosen model, and by the multilingual one where the index has its vectors."""

    chosen: "Values"
    multilingual: "Values | None" = None


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
    embedded_multilingual: int = 0
    to_embed_multilingual: int = 0
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

    @property
    def uuid(self) -> str:
        """The id of the message, which `Engine.show` takes."""
        return self.stored.part.uuid

    @property
    def kind(self) -> Kind:
        """What the part is: a prompt, a text, a tool call, ..."""
        return self.stored.part.kind

    @property
    def text(self) -> str:
        """The whole text of the part."""
        return self.stored.part.text

    @property
    def snippet(self) -> str:
        """The passage to show, on one line."""
        return self.passage.text

    @property
    def time(self) -> int | None:
        """When it was written, in milliseconds since 1970."""
        return self.stored.link.time

    @property
    def score(self) -> float:
        """What it was ranked by."""
        return self.ranked.score


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A part that answers what was found, and the passage to show of it, without Markdown."""

    stored: Stored
    passage: Passage


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The best hit of a session with the conversation around it, and further passages of that session.

    `answer` is the text that answers a prompt or a step that was found; of a report it is what that says beside the
    passage, such as its last paragraph.
    `text`, `uuid` and the other properties are those of the best hit.
    """

    best: Shown
    session: Heading | None
    thread: Sequence[Entry] = ()
    others: Sequence[Shown] = ()
    answer: Conclusion | None = None

    @property
    def uuid(self) -> str:
        """The id of the message, which `Engine.show` takes."""
        return self.best.uuid

    @property
    def kind(self) -> Kind:
        """What the part is: a prompt, a text, a tool call, ..."""
        return self.best.kind

    @property
    def text(self) -> str:
        """The whole text of the part."""
        return self.best.text

    @property
    def snippet(self) -> str:
        """The passage to show, on one line."""
        return self.best.snippet

    @property
    def time(self) -> int | None:
        """When it was written, in milliseconds since 1970."""
        return self.best.time

    @property
    def score(self) -> float:
        """What it was ranked by."""
        return self.best.score

    @property
    def project(self) -> str | None:
        """The directory of the session's project; of what belongs to no session, the one it was written in."""
        return self.session.project if self.session else self.best.stored.link.context.cwd


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
    read that are. `weights` are those of the ranking.
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
    weights: Recipe = RECIPE
