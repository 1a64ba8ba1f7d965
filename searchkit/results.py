"""The nouns that answers are made of."""

from collections.abc import Sequence

import msgspec

from searchkit.backends.base import Hit
from searchkit.types import Counts, Session


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What is indexed and how far."""

    index: str
    roots: Sequence[str]
    counts: Counts
    index_bytes: int
    files_behind: int
    bytes_behind: int
    unreachable: str | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A hit with the session it is in."""

    hit: Hit
    session: Session | None
