"""The reference backend: dictionaries, nothing worked out before it is asked for."""

from collections.abc import Callable, Iterator, Sequence

from searchkit.backends.duplicates import Space
from searchkit.text.secrets import find, mark
from searchkit.types import Finding, SecretPlace
from tests.reference.catalog import ReferenceCatalog
from tests.reference.vectors import ReferenceVectors
from tests.reference.words import ReferenceWords


class ReferenceBackend:
    """A backend that is slow, forgets all when it is closed, and is meant to be read."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.catalog = ReferenceCatalog()
        self.words = ReferenceWords(self.catalog)
        self.vectors = ReferenceVectors(self.catalog)
        self.multilingual = ReferenceVectors(self.catalog, Space.MULTILINGUAL)

    def keep_up(self) -> None:
        """Do nothing: words derive from nothing."""

    def follow(self, on_progress: Callable[[int, int], None] = lambda done, left: None, /) -> None:
        """Throw away the vectors of what is gone."""
        self.vectors.follow()
        self.multilingual.follow()

    def findings(self, is_deep: bool = False) -> Iterator[Finding]:
        """Yield the problems that reading reported, and no others: nothing is looked for here."""
        found = [(problem, file.path) for file in self.catalog.files.values() for problem in file.problems]
        for problem, path in sorted(found, key=lambda pair: (pair[0].kind, pair[1], pair[0].line)):
            yield Finding(kind=problem.kind, file=path, line=problem.line, detail=problem.detail)

    def forget(self, sessions: Sequence[str], /) -> None:
        """Remove sessions and all that only they hold."""
        self.catalog.forget(sessions)
        self.follow()

    def secrets(self) -> Iterator[SecretPlace]:
        """Yield the secrets that texts hold."""
        for holding in self.catalog.everything():
            for stored in holding.parts:
                text, home = stored.part.text, holding.link.places[0]
                for one in find(text):
                    shown = mark(text[one.start : one.end], one)
                    yield SecretPlace(session=home.session, part=stored.id, kind=one.kind, mark=shown)

    def mask_secrets(self) -> int:
        """Put masks in the place of secrets."""
        count = self.catalog.mask_secrets()
        self.follow()
        return count

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
