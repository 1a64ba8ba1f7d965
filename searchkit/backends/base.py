"""The seam towards storage: what the stages ask of a store, whatever it is made of."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from searchkit.types import Change, Counts, Fact, Finding, Link, Part, Session, Usage


class Entry(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A change with the parts of each of its records, or with the number of records that were left behind."""

    change: Change
    parts: Sequence[Sequence[Part]] = ()
    left_behind: int = 0


Batch = Sequence[Entry]


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


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """A record with all of its parts."""

    link: Link
    parts: Sequence[Stored]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A part that answers a query, and how well."""

    stored: Stored
    score: float


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions are meant: every field that is set must hold."""

    project: str | None = None
    branch: str | None = None
    model: str | None = None
    title: str | None = None
    file: str | None = None
    after: int | None = None
    before: int | None = None
    ids: Sequence[str] | None = None


class Backend(Protocol):
    """A store of records and parts. Writing a batch twice equals writing it once."""

    @property
    def preparation(self) -> str | None:
        """Name, as `module:function`, what may be done with a batch where it was read, before it is written."""

    def checkpoints(self) -> Mapping[str, bytes]:
        """Return the checkpoint of every file that was read."""

    def write(self, batch: Batch, /) -> None:
        """Keep a batch and its checkpoints, all or nothing."""

    def settle(self) -> None:
        """Decide, for the sessions written to, which parts only repeat others."""

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Bring whatever derives from the parts up to date with them; told are parts done and parts left."""

    def keyword(self, words: str, limit: int, /) -> list[Hit]:
        """Return the parts that match words best; repeats are not among them."""

    def pending(self) -> int:
        """Count the parts that a search for words does not reach yet."""

    def part(self, part_id: str, /) -> Stored | None:
        """Return one part by its id, `<uuid>#<block>`."""

    def links(self, uuids: Sequence[str], /) -> Mapping[str, Link]:
        """Return the records with these uuids; a missing one is left out."""

    def children(self, uuid: str, /) -> list[Link]:
        """Return the records whose parent this is, in order of their homes."""

    def neighbours(self, uuid: str, before: int, after: int, /) -> list[Link]:
        """Return the records around one in its home file, that one included, in line order."""

    def session_parts(self, session: str, agent: str | None = None, /) -> Iterator[Stored]:
        """Yield the parts of a session, or of one of its agents, in order; repeats included."""

    def sessions(self, condition: Condition, limit: int | None = None, /) -> list[Session]:
        """Return sessions, newest first."""

    def facts(self, session: str, /) -> list[Fact]:
        """Return what is known of a session and its agents."""

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts and in the store itself."""

    def counts(self) -> Counts:
        """Count what is kept."""

    def responses(self) -> Mapping[str, Usage]:
        """Return what each response cost, by the name its records' links give it."""

    def everything(self) -> Iterator[Holding]:
        """Yield every record with its parts, in any order."""

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold."""

    def close(self) -> None:
        """Release what is held."""
