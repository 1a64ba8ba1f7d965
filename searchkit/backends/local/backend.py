"""The local backend: a catalog in SQLite, its words in Tantivy and its vectors in LanceDB, in one directory."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from searchkit.backends.local import layout
from searchkit.backends.local.catalog.store import FORGETTING, SqliteCatalog
from searchkit.backends.local.words.store import TantivyWords
from searchkit.errors import IndexBusy, IndexUnwritable, IndexVersion
from searchkit.types import Finding, SecretPlace

if TYPE_CHECKING:
    from searchkit.backends.local.vectors.store import LanceVectors

_SCHEME = "file://"


class LocalBackend:
    """The catalog and the two stores that derive from it; what concerns several of them is done here."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open what is in `directory`. Writing wants the index's lock, which the caller holds."""
        self.catalog = SqliteCatalog(directory, is_writable)
        self._directory, self._is_writable = directory, is_writable
        self.words = TantivyWords(self.catalog, directory, is_writable, lambda: self.vectors.pass_on_stale())

    @cached_property
    def vectors(self) -> "LanceVectors":
        """The vectors, which a search by words has no use for."""
        from searchkit.backends.local.vectors.store import LanceVectors

        return LanceVectors(self.catalog, self._directory, self._is_writable, beside=self.multilingual)

    @cached_property
    def multilingual(self) -> "LanceVectors":
        """The vectors of the multilingual model."""
        from searchkit.backends.duplicates import Space
        from searchkit.backends.local.vectors.store import LanceVectors

        return LanceVectors(self.catalog, self._directory, self._is_writable, Space.MULTILINGUAL)

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
        yield from self.multilingual.findings(is_deep)
        yield from self.words.findings(is_deep)

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold, from the disk too."""
        self.catalog.forget(sessions)
        self._finish_or_tell()

    def secrets(self) -> Iterator[SecretPlace]:
        """Yield the secrets that texts hold."""
        yield from self.catalog.secrets()

    def mask_secrets(self) -> int:
        """Put masks in the place of secrets, in the words and on the disk too; return how many texts had any."""
        count = self.catalog.mask_secrets()
        self._finish_or_tell()
        return count

    def _finish_or_tell(self) -> None:
        try:
            self.finish_forgetting()
        except IndexUnwritable as error:
            raise IndexUnwritable(
                f"what was forgotten may still be on the disk: {error.message}",
                "make room or give yourself permission there, then run searchkit index, which goes on where this"
                " stopped",
            ) from error

    def finish_forgetting(self) -> None:
        """Take what was forgotten from the disk, where that is not done."""
        if self.catalog.setting(FORGETTING):
            layout.mark_changed(self.catalog.path.parent)
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
        """Throw words and vectors away; they are rebuilt from the catalog."""
        self.words.drop()
        self.vectors.drop_all()

    def close(self) -> None:
        """Release what is held."""
        self.words.close()
        self.catalog.close()


class LocalStore:
    """The directory of an index, by its path or its `file://` URL."""

    format = layout.FORMAT

    def __init__(self, url: str) -> None:
        """Take where it is; nothing is looked at yet."""
        if url.startswith(_SCHEME):
            # Most are given as plain paths.
            from urllib.parse import unquote

            url = unquote(url.removeprefix(_SCHEME))
        self._directory = Path(url)

    def exists(self) -> bool:
        """Say whether there is an index, whatever state it is in."""
        return layout.has_index(self._directory)

    def check(self) -> None:
        """Raise unless there is an index of this format, as far as its manifest tells."""
        layout.check(self._directory)

    def identity(self) -> tuple[int, ...]:
        """Tell one index from another in the same place."""
        return layout.identity(self._directory)

    def roots(self) -> tuple[Path, ...]:
        """Return what the index was made from last, or nothing where that is not known."""
        return layout.remembered_roots(self._directory)

    def has_vectors(self) -> bool | None:
        """Say whether there are vectors, by a look at the manifest; None where that is damaged or gone."""
        if layout.read_manifest(self._directory) is None and self._directory.is_dir():
            return None
        return layout.remembered_embedding(self._directory) is not None

    def size(self) -> int:
        """Return how many bytes the files take."""
        return layout.size(self._directory)

    def open(self) -> LocalBackend:
        """Open it to read; one of an older format is brought up to date first."""
        try:
            backend = LocalBackend(self._directory)
        except IndexVersion as fault:
            if not fault.is_older:
                raise
            self._bring_up_to_date()
            backend = LocalBackend(self._directory)
        if not backend.words.is_usable():
            # A migration was interrupted, or somebody removed them; who builds the index makes them itself.
            with suppress(IndexBusy, IndexUnwritable):
                self._bring_up_to_date(wait=False)
        return backend

    def open_to_write(
        self, wait: bool = True, on_wait: Callable[[str], None] = lambda holder: None, is_rebuild: bool = False, /
    ) -> AbstractContextManager[LocalBackend]:
        """Hold the lock and open it to write."""
        # A search does not wait for what only a writer needs.
        from searchkit.backends.local.open import open_to_write

        return open_to_write(self._directory, wait, on_wait, is_rebuild)

    def _bring_up_to_date(self, wait: bool = True) -> None:
        """Migrate an index of an older format, with the words that are searched."""
        with self.open_to_write(wait) as backend:
            backend.catalog.settle()
            backend.follow()
