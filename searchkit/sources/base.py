"""The seam towards what is searched: a source says what is new since last time."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from searchkit.types import Behind, Change, Reading


class Source(Protocol):
    """Somewhere that conversations come from."""

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""

    @property
    def reading(self) -> Reading:
        """How this version reads."""

    def changes(self, seen: Mapping[str, bytes], /) -> Iterator[Change]:
        """Yield what is new, given the checkpoints that earlier changes carried, by file."""

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read."""
