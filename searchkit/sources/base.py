"""The seam towards what is searched: a source says what is new since last time.

An adapter is a package below `sources/` that is an `Adapter`, and one row in `apps.APPS`. It turns what an agent
program wrote into the nouns of `searchkit.types`, so that nothing else knows its record types, tools or directories.
All sources agree on these words:

- A record that somebody says something in has the type `user` or `assistant`, by whose turn it is; results of tools
  come with the type `user`. The types of all other records are the source's own.
- A file has the kind `session` or `agent` where it is a transcript, `history` where it lists prompts, and any other
  name where it is a document beside them.
- The entrypoint of a record, which says how the program was used, begins with the name of the program and a blank,
  unless that is the default one.
- Facts of a session are called `project`, `branch`, `model`, `version`, `app` and so on; those of an agent `call`,
  `agent-type`, `description`, `parent-agent`.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from searchkit.types import Behind, Change, Exposure, Picture, Reading

# For people who have no transcripts yet.
DEMO = "searchkit demo shows searches over sample transcripts"


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What is not read yet, and, for each root, what the program will delete."""

    behind: Behind
    exposures: Sequence[Exposure] = ()


class Share(msgspec.Struct, frozen=True):
    """Which of the files one of several readers reads, each by itself.

    A growing file is of one of the first `count` shares, by its path. The share behind these holds what may be read
    only after them, because transcripts name it: documents, what is gone, and what is passed over.
    """

    number: int
    count: int

    @property
    def is_rest(self) -> bool:
        """Whether this is the share that is read after all others."""
        return self.number == self.count

    def has(self, path: str, is_growing: bool) -> bool:
        """Whether a file is part of it."""
        return self.number == (zlib.crc32(path.encode()) % self.count if is_growing else self.count)


class Source(Protocol):
    """Somewhere that conversations come from."""

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""

    @property
    def readings(self) -> Sequence[Reading]:
        """How this version reads; several where several programs are read."""

    def changes(self, seen: Mapping[str, bytes], share: Share | None = None, /) -> Iterator[Change]:
        """Yield what is new, or a share of it, given the checkpoints that earlier changes carried, by file."""

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""

    def survey(self, seen: Mapping[str, bytes], now: int, /) -> Survey:
        """Say how much is new, and what of it the program will delete and when; `now` is in milliseconds."""

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read."""


class Adapter(Protocol):
    """What the package of a program offers; a module is one."""

    def open(self, roots: Sequence[Path], /) -> Source:
        """Open the source below roots of this program; raises where one cannot be its root."""

    def session_of_call(self, call: str, roots: Sequence[Path], /) -> str | None:
        """Return the session that makes this call of a tool just now, by its transcript; None where none is known."""

    def session_of_client(self, process: int, roots: Sequence[Path], /) -> str | None:
        """Return the session that a running client has open, by the number of its process."""

    def last_written(self, session: str, project: str | None, root: Path, /) -> float | None:
        """Return when the transcript of a session was last written to, in seconds; None where it is not below."""

    def records_with_pictures(self, file: str, /) -> Mapping[str, int]:
        """Count the pictures of each record of a transcript that has some, by uuid."""

    def pictures(self, file: str, uuid: str, /) -> Sequence[Picture]:
        """Return the pictures of one record of a transcript."""
