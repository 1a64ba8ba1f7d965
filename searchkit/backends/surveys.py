"""What a backend tells of a long conversation without reading all of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from searchkit.backends.base import Node


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
