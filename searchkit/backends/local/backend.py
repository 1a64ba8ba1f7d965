"""The local backend: a catalog in SQLite, its words in Tantivy and its vectors in LanceDB, in one directory."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from searchkit.backends.local.catalog.store import FORGETTING, SqliteCatalog
from searchkit.backends.local.vectors.store import LanceVectors
from searchkit.backends.local.words.store import TantivyWords
from searchkit.types import Finding


class LocalBackend:
    """The catalog and the two stores that derive from it; what concerns several of them is done here."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open what is in `directory`. Writing wants the index's lock, which the caller holds."""
        self.catalog = SqliteCatalog(directory, is_writable)
        self.vectors = LanceVectors(self.catalog, directory, is_writable)
        self.words = TantivyWords(self.catalog, directory, is_writable, self.vectors.pass_on_stale)

    def keep_up(self) -> None:
        """Hand what was written to the keyword index, whose own thread takes it in, and commit now and then."""
        self.words.keep_up()

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Bring words and vectors up to date with the catalog; told are parts done and parts left."""
        self.words.follow(on_progress)
        self.vectors.follow()

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield what is wrong in the transcripts, in the catalog, and in what derives from it."""
        yield from self.catalog.findings(is_deep)
        yield from self.vectors.findings(is_deep)
        yield from self.words.findings(is_deep)

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold, from the disk too."""
        self.catalog.forget(sessions)
        self.finish_forgetting()

    def finish_forgetting(self) -> None:
        """Take what was forgotten from the disk, where that is not done."""
        if self.catalog.setting(FORGETTING):
            self.catalog.wipe()
            self.vectors.wipe()
            self.words.wipe()
            self.catalog.remember(FORGETTING, None)

    def begin_rebuild(self) -> bool:
        """Verify everything before transcripts are read again; False where SQLite cannot read the catalog through."""
        if not self.catalog.begin_rebuild():
            return False
        self.vectors.begin_rebuild()
        self.words.begin_rebuild()
        return True

    def drop_derived(self) -> None:
        """Throw words and vectors away; they are made again from the catalog."""
        self.words.drop()
        self.vectors.drop()

    def close(self) -> None:
        """Release what is held."""
        self.words.close()
        self.catalog.close()
