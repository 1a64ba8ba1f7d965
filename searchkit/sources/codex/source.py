"""The source itself: lists what is below its roots and reads what is new."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from searchkit.sources.base import Share, Survey
from searchkit.sources.codex.layout import HISTORY_KIND, check, found
from searchkit.sources.codex.reader import RolloutReader
from searchkit.sources.transcripts import Document, Found, PassOver, Transcripts, unread
from searchkit.types import Behind, Change, Origin, Reading

# Raised whenever the same bytes make other parts, facts or links.
READING = Reading(version=1, key="reading-codex")


class CodexSource:
    """The rollouts and the history below one or many roots."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """Raise for a root that cannot be one, before anything is read."""
        for root in roots:
            check(root)
        self._files = Transcripts(roots, _CodexFormat(), "codex")

    @property
    def roots(self) -> Sequence[Path]:
        """The directories to watch for changes."""
        return self._files.roots

    @property
    def readings(self) -> Sequence[Reading]:
        """How this version reads."""
        return (READING,)

    def changes(self, seen: Mapping[str, bytes], share: Share | None = None, /) -> Iterator[Change]:
        """Yield what is new: newest rollouts first, the history last."""
        return self._files.changes(seen, share)

    def unread(self, checkpoint: bytes, /) -> bytes:
        """Return the checkpoint of the same file, of which nothing has been read."""
        return unread(checkpoint)

    def behind(self, seen: Mapping[str, bytes], /) -> Behind:
        """Say how much is new, without reading any of it."""
        return self._files.behind(seen)

    def survey(self, seen: Mapping[str, bytes], now: int, /) -> Survey:
        """Say how much is new; Codex deletes nothing by itself."""
        return Survey(behind=self.behind(seen))


class _CodexFormat:
    """What Codex writes, and how it reads."""

    def found(self, root: Path, pass_over: PassOver, /) -> Iterator[Found]:
        return found(root, pass_over)

    def is_growing(self, origin: Origin, /) -> bool:
        return True

    def order(self, item: Found, /) -> tuple[bool, int, str]:
        return item.origin.kind == HISTORY_KIND, -item.shape.modified, item.path

    def reader(self, item: Found, memory: msgspec.Raw, /) -> RolloutReader:
        return RolloutReader(item, memory)

    def document(self, item: Found, content: bytes, /) -> Document:
        raise ValueError(f"no document: {item.origin.kind}")
