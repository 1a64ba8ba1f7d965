"""The seam towards storage: what the stages ask of a catalog, an index of words and one of vectors.

`Backend` joins the three. `registry.py` finds the implementation for a URL.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from searchkit.query.types import Condition, Query
from searchkit.types import (
    Change,
    Cost,
    Counts,
    Fact,
    Figures,
    Finding,
    Grouping,
    Heading,
    Kind,
    Language,
    Link,
    Part,
    Reading,
    Role,
    SecretPlace,
    Session,
)

if TYPE_CHECKING:
    # A search for words must not wait for it.
    import numpy as np
    from numpy.typing import NDArray

    from searchkit.backends.prices import Price

    Values = NDArray[np.float32]


class Entry(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A change with the parts of each of its records, or with the number of records that were left behind."""

    change: Change
    parts: Sequence[Sequence[Part]] = ()
    left_behind: int = 0


Batch = Sequence[Entry]

# What the index remembers: the roots it was made from, the version of the reading that read all of it, what the
# vectors that are searched were made with, and whether secrets are kept out of it.
ROOTS, READ_BY, EMBEDDING, WITHOUT_SECRETS = "roots", "reading", "embedding", "without-secrets"
# And what the multilingual vectors were made with.
MULTILINGUAL = "multilingual"

# What a person types, or a caller asks of an agent: it begins a turn.
TYPED = frozenset({Kind.PROMPT, Kind.COMMAND})
# A search looks no further for what a person typed before or after a hit: half of all turns take
# fewer than 20 lines, and a session can be one turn of 100,000.
FAR_LINES = 400


class Prepared(list[Entry]):
    """A batch whose records were left in the process that read them; what the backend needs of them comes along."""

    def __init__(self, entries: Iterable[Entry], prepared: msgspec.Raw) -> None:
        """Take the entries, and what the backend's preparation made of them, encoded."""
        super().__init__(entries)
        self.prepared = prepared


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A part as it is kept: its id, its record, and, for a repeat, the part that it repeats."""

    id: str
    part: Part
    link: Link
    repeats: str | None = None


class Hit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part that answers a query, by a key of the backend's own, and how well.

    Keys are only ever compared for being the same. The position is where the part is in its conversation, in the order
    of files and lines: of two parts of one session the later has the higher one, and of two that lie next to each
    other one that is higher by 1. Positions of different sessions have nothing to do with each other.
    The score is absolute: 1 is a part that holds everything that was asked for as often as counts.
    Coverage is the share of it that the part holds at all, rare words counting more than common ones.
    `unique` is the share of the query's unique words that it holds: those that hardly any part holds. It is 0
    for every hit of a query without such words.
    """

    key: int
    position: int
    kind: Kind
    session: int
    time: int | None
    is_agents: bool
    score: float
    coverage: float
    unique: float = 0.0

    @property
    def is_told(self) -> bool:
        """Whether this is what an agent was told to do, by another agent and not by a person."""
        return self.is_agents and self.kind is Kind.PROMPT


class Vector(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Where the text of a part lies among all meanings, or a piece of it; piece 0 is the text itself.

    The feature is what a cosine with it counts times, for what kind of saying the text is. The language is that of the
    part, of a vector that was kept.
    """

    key: int
    piece: int = 0
    values: "Values"
    feature: float = 1.0
    language: Language | None = None


class Near(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part whose meaning is near to what was asked, by its best piece: the cosine, and that piece's feature."""

    key: int
    position: int
    kind: Kind
    session: int
    time: int | None
    is_agents: bool
    cosine: float
    feature: float
    language: Language | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A part of a conversation without its text, which is fetched by its key only if it is to be shown.

    The path is that of a file which the call touched.
    """

    key: int
    uuid: str
    kind: Kind
    role: Role
    tool: str | None = None
    call: str | None = None
    path: str | None = None
    is_error: bool = False

    @property
    def is_typed(self) -> bool:
        """Say whether a person typed it, or a caller asked it of an agent."""
        return self.role is Role.USER and self.kind in TYPED


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record in its conversation, by a key of the backend's own, without its texts.

    The parent of a record that begins after a compaction is its logical one. A parent that is not
    there is missing. Numbers of files tell only which records lie in the same one. A record without a
    uuid of its own is no link: nothing leads to it. Of progress, what only repeats something is left
    out: it is what an agent says in its own transcript.
    """

    key: int
    uuid: str
    type: str
    parent: int | None
    missing: str | None
    response: int | None
    file: int
    line: int
    time: int | None
    session: str | None
    agent: str | None
    is_link: bool
    is_boundary: bool
    is_sidechain: bool
    steps: tuple[Step, ...] = ()


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The last text of a turn with its length in bytes, and the length of the part that it was looked up for."""

    key: int
    length: int
    other_length: int


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The best hits, how many there are in all, and the words that nothing holds.

    `matches` counts those that hold at least half of what was asked for, rare words counting more, or all where
    none does; None where that is all of them.

    `hidden` counts, where there is no hit, the parts that only the condition keeps away, and
    `unseen` those that a pattern over several words may match and that were not looked at.
    """

    hits: Sequence[Hit]
    total: int
    matches: int | None = None
    missing: Sequence[str] = ()
    hidden: int = 0
    unseen: int = 0


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How many parts can be found, by their words or by their meaning, and how many not yet."""

    searchable: int
    pending: int


class Order(StrEnum):
    """What comes first."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


class Catalog(Protocol):
    """The truth: records and parts, sessions, conversations, figures. Writing a batch twice equals writing it once."""

    def setting(self, name: str, /) -> Any:
        """Return what the index remembers under a name, None where that is nothing."""

    def remember(self, name: str, value: object, /) -> None:
        """Keep a value of JSON about the index under a name; None forgets it."""

    def revise(self, reading: Reading, /) -> None:
        """Correct what an earlier version of a source read otherwise, as far as that needs no transcript."""

    @property
    def preparation(self) -> str | None:
        """Name, as `module:function`, what may be done with a batch where it was read, before it is written."""

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return the checkpoint of every file that was read."""

    def write(self, batch: Batch, /) -> None:
        """Keep a batch and its checkpoints, all or nothing."""

    def settle(self) -> None:
        """Decide, for the sessions written to, which parts only repeat others."""

    def stored(self, keys: Sequence[int], /) -> list[Stored | None]:
        """Return parts by their keys, in this order; None for one that is gone."""

    def part(self, part_id: str, /) -> Stored | None:
        """Return one part by its id, `<uuid>#<block>`."""

    def links(self, uuids: Sequence[str], /) -> Mapping[str, Link]:
        """Return the records with these uuids; a missing one is left out."""

    def beginning(self, text: str, limit: int, /) -> list[str]:
        """Return the uuids that begin with a text, in order."""

    def opening(self, session: str, /) -> list[str]:
        """Return the uuid of the first thing that was said in a session, or nothing where there is none."""

    def keys(self, uuid: str, /) -> list[int]:
        """Return the keys of what a record says, in the order of its blocks."""

    def turns(self, keys: Sequence[int], before: int, after: int, /) -> Mapping[int, Sequence[Step]]:
        """Return, for each of these parts, those of the turn that it is in and of so many before and after.

        A turn begins with what a person typed and lies on the lines of a file up to the next such
        record; what another agent or a sidechain says there is not of it. The turn before is the one
        that the parent of its first record is in; the turn after is the next in the file, if its parent
        is in this one. Lines that are more than `FAR_LINES` from a record that the turn was found by are
        left out, and so are records without a uuid unless they are asked for, and what progress repeats.
        """

    def following(self, keys: Sequence[int], count: int, /) -> Mapping[int, Sequence[int | None]]:
        """Return, for each of these parts, the parts at the next positions, so many; None where nothing is there.

        They may be of another conversation.
        """

    def prompts(self, keys: Sequence[int], /) -> Mapping[int, int]:
        """Return what a person typed, or an agent was told, that the turn of each of these parts begins with.

        A part whose turn begins otherwise is left out.
        """

    def projects(self) -> Mapping[str, frozenset[int]]:
        """Return the sessions of each project, as hits name them."""

    def conclusions(self, keys: Sequence[int], /) -> Mapping[int, Conclusion]:
        """Return the last text of the turn that each of these parts is in; a part without one is left out."""

    def record(self, uuid: str, /) -> int | None:
        """Return the key of a record, or None where there is none."""

    def transcript(self, key: int, /) -> list[Node]:
        """Return the records with a uuid in the home file of this one, and this one, in line order."""

    def members(self, session: str, agent: str | None = None, /) -> list[Node]:
        """Return the records of a session, or of one of its agents, as they lie there, copies after others."""

    def nodes(self, keys: Sequence[int], /) -> list[Node]:
        """Return records by their keys, in this order, as they lie at home; one that is gone is left out."""

    def survey(self, key: int, /) -> "Survey | None":
        """Survey the conversation of a record, by its session and agent; None where it is as well to read all of it."""

    def touching(self, session: str, /) -> list[Step]:
        """Return the calls of a session that touched a file, in line order: of each file and tool the last."""

    def tail(self, session: str, /) -> "Sketch | None":
        """Return the turn that a session ends with, as far as it is near its end; None where that takes all of it."""

    def agents(self, session: str, /) -> list[str]:
        """Return the agents that have records in a session, in order of their names.

        Left out are those of which nothing is kept: warm-ups, and guesses at the next prompt.
        """

    def offspring(self, keys: Sequence[int], session: str, /) -> list[Node]:
        """Return the records of other sessions than this whose parent is one of these, without their steps."""

    def callers(self, calls: Sequence[str], /) -> Mapping[str, str]:
        """Return the uuid of the record that made each of these tool calls; a missing one is left out."""

    def calls(self, keys: Sequence[int], /) -> Mapping[int, int]:
        """Return the part of the call that each of these results is of; one that is not known is left out."""

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        """Return the sessions for which a condition holds, newest first.

        A filter holds for a session if it does for anything in it: for parts that repeat nothing, a
        path, branch, model or title it ever had, a file it touched, an agent by id or type. A period
        holds if the session lasted for any moment of it.
        """

    def named(self, ids: Sequence[str], /) -> Mapping[str, Session]:
        """Return the sessions with these ids; a missing one is left out."""

    def values(self, name: str, /) -> list[str]:
        """Return the values there are of a filter, those that most sessions have first."""

    def headings(self, ids: Sequence[str], /) -> Mapping[str, Heading]:
        """Return what the sessions with these ids are known by; a missing one is left out."""

    def facts(self, session: str, names: Sequence[str] = (), /) -> list[Fact]:
        """Return what is known of a session and its agents; of some names, or of all where none is given."""

    def counts(self) -> Counts:
        """Count what is kept."""

    def figures(
        self, condition: Condition, groupings: Sequence[Grouping], prices: "Mapping[str, Price] | None" = None, /
    ) -> Mapping[Grouping, Mapping[str, Figures]]:
        """Return figures by label, such as a day, for each grouping; what has no label is under the empty one.

        Filters choose sessions, as for `sessions`; those of models and tools also leave out what others
        did. A period holds for what happened in it. Prompts have no model, and only calls have a tool.
        In all there are as many sessions as `sessions` returns, unless a period is given: then it is those in which
        something happened.
        What sessions cost is what the client counted, on the day on which its run ended; of a session of which it
        counted nothing, what its records say, and else the price of its tokens, which is an estimate.
        Without prices, those of the list hold.
        """

    def costs(self, sessions: Sequence[str], prices: "Mapping[str, Price] | None" = None, /) -> Mapping[str, Cost]:
        """Return what these sessions cost; one of which nothing is known is left out."""

    def damage(self) -> str | None:
        """Say what was found to be damaged while texts were read; None where that is nothing."""


class WordIndex(Protocol):
    """The words of the parts that repeat nothing. It derives from the catalog."""

    def search(self, query: Query, limit: int, order: Order = Order.RELEVANCE, /) -> Found:
        """Return the parts that answer a query; repeats are not among them."""

    def scored(self, query: Query, keys: Sequence[int], /) -> list[Hit]:
        """Score these parts for the words of a query; those that hold none of them are left out."""

    def facets(self, query: Query, name: str, /) -> Mapping[str, int]:
        """Count the parts that answer a query by one of their values: a filter's name, `month` or `day`."""

    def spelling(self, word: str, /) -> list[str]:
        """Return words that are held somewhere and differ little from this one, the likeliest first."""

    def highlight(self, query: Query, text: str, /) -> list[tuple[int, int]]:
        """Return where in a text something stands that a query asks for, in order."""

    def reach(self) -> Reach:
        """Count the parts that a search for words reaches, and those that it does not reach yet."""


class VectorIndex(Protocol):
    """The vectors of parts, by embedder. They derive from the catalog."""

    def adopt(self, identity: msgspec.Struct, /) -> None:
        """Keep and ask for vectors of the embedder with this identity from now on.

        Vectors of another embedder are an error for who only reads. Who writes makes his own beside
        them, and they are what others find until these are complete.
        """

    def pending(self, limit: int, /) -> Mapping[int, Stored]:
        """Return the parts that should have a vector and have none, by key, those worth most and newest first."""

    def twins(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return, by these keys, the vectors that another part of the same kind with the same text has, piece by piece.

        A part without such a twin is left out.
        """

    def keep(self, vectors: Sequence[Vector], /) -> None:
        """Keep vectors, all pieces of a part at once; a part that is gone or has its vector is left out."""

    def tidy(self) -> None:
        """Bring the vectors into the shape in which they are found fastest, and let complete ones be found."""

    def nearest(self, values: "Values", condition: Condition, limit: int, /) -> list[Near]:
        """Return, of the parts that a condition means, those nearest to a unit vector."""

    def of(self, keys: Sequence[int], /) -> Mapping[int, Sequence[Vector]]:
        """Return the vectors of parts, piece by piece; a part without any is left out."""

    def reach(self) -> Reach:
        """Count the parts that a search for meaning reaches, and those that it should reach and does not yet."""

    def drop(self) -> None:
        """Throw all of these vectors away."""


class Backend(Protocol):
    """A catalog and the two indexes that derive from it, with what concerns all three."""

    @property
    def catalog(self) -> Catalog:
        """Return the catalog."""

    @property
    def words(self) -> WordIndex:
        """Return the index of words."""

    @property
    def vectors(self) -> VectorIndex:
        """Return the index of vectors."""

    @property
    def multilingual(self) -> VectorIndex:
        """Return the index of the vectors of a multilingual model, which not all parts have."""

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Bring whatever derives from the parts up to date with them; told are parts done and parts left."""

    def keep_up(self) -> None:
        """Go on with whatever derives from the parts while writing goes on; `follow` completes it."""

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts and in the store itself; deeply means that everything is verified."""

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold."""

    def secrets(self) -> Iterator[SecretPlace]:
        """Yield the secrets that texts hold."""

    def mask_secrets(self) -> int:
        """Put masks in the place of secrets, wherever they are kept, and return how many texts had any."""

    def close(self) -> None:
        """Release what is held."""


class Store(Protocol):
    """An index at a URL: what can be said of it without opening it, and two ways to open it."""

    @property
    def format(self) -> int:
        """Return the version of the format that this implementation reads and writes."""

    def exists(self) -> bool:
        """Say whether there is an index, whatever state it is in."""

    def check(self) -> None:
        """Raise an IndexFault unless there is an index of this format, as far as that can be seen quickly."""

    def identity(self) -> tuple[int, ...]:
        """Tell one index from another in the same place: rebuilt, replaced, or with the vectors of another model."""

    def roots(self) -> tuple[Path, ...]:
        """Return what the index was made from last, or nothing where that is not known."""

    def has_vectors(self) -> bool | None:
        """Say whether there are vectors; None where it must be opened to know."""

    def size(self) -> int:
        """Return how many bytes it takes."""

    def open(self) -> Backend:
        """Open it to read; one of an older format is brought up to date first."""

    def open_to_write(
        self, wait: bool = True, on_wait: Callable[[str], None] = lambda holder: None, is_rebuild: bool = False, /
    ) -> AbstractContextManager[Backend]:
        """Open it to write, alone; told is who else writes, while that is waited for.

        To rebuild verifies everything, and keeps what the transcripts no longer have.
        """


# What a backend tells of a long conversation without reading all of it.


class Gap(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Lines of a conversation between two records; where something is left out, those two are still there."""

    first: int
    last: int


class Sketch(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with gaps, in line order: all records on which its ways depend, and some more.

    Gaps are known by the key of the record after them. All that is left out in one leads to that record, and
    descends from the one before it, which is its parent here. `leaves` are the records with which the
    conversation was said to go on, and the lines on which that was said, as far as they matter.
    """

    nodes: Sequence[Node]
    gaps: Mapping[int, Gap]
    leaves: Mapping[str, int]


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How many records there are, and when the last of them was written."""

    records: int
    ended: int | None = None


class Survey(Protocol):
    """What is known of a long conversation before it is read: where its ways part, and where nothing happens."""

    def turns(self, before: int, after: int, line: int | None = None, /) -> Gap:
        """Return the lines of the turn that a line, or else the record, is in, and of so many before and after it."""

    def sketch(self, spans: Sequence[Gap], /) -> Sketch:
        """Return the conversation without its gaps, but with all that lies on these lines."""

    def pieces(self, gap: Gap, /) -> Iterator[Sequence[Node]]:
        """Yield what was left out, some of it at a time; each piece begins with the record that the last ended with."""

    def prompts(self, gaps: Sequence[Gap], /) -> int:
        """Count the records in gaps with which turns begin."""

    def extent(self, gaps: Sequence[Gap], /) -> Extent:
        """Count the records in gaps, and say when the last of them was written."""

    def lines(self, calls: Sequence[str], /) -> list[int]:
        """Return the lines on which calls are made or answered."""
