"""What the catalog tells of conversations beyond whole files and sessions; what looks for it is imported when asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from searchkit.backends.base import Node, Step
from searchkit.backends.local.catalog import read, threads
from searchkit.backends.local.catalog.store import Catalog

if TYPE_CHECKING:
    from searchkit.backends.base import Sketch, Survey
    from searchkit.backends.local.catalog.long_threads import Known


class Conversations(Catalog):
    """A catalog that is asked for some of a conversation."""

    def __init__(self, directory: Path, is_writable: bool = False) -> None:
        """Open the catalog in `directory`, making it where it is to be written and is not there."""
        super().__init__(directory, is_writable)
        # What was found out of conversations, good until somebody writes.
        self._surveyed: Known = {}
        self._surveyed_in = self._keeping

    def nodes(self, keys: Sequence[int], /) -> list[Node]:
        """Return records by their keys, in this order, as they lie at home; one that is gone is left out."""
        with self._reading():
            return threads.by_key(self._connection, keys)

    def survey(self, key: int, /) -> "Survey | None":
        """Survey the conversation of a record, by its session and agent; None where it is as well to read all of it."""
        from searchkit.backends.local.catalog.long_threads import survey

        with self._reading():
            kept = self._kept()
            if self._surveyed_in is not kept:
                self._surveyed_in, self._surveyed = kept, {}
            return survey(self._connection, self._reading, key, self._surveyed)

    def touching(self, session: str, /) -> list[Step]:
        """Return the calls of a session that touched a file, in line order: of each file and tool the last."""
        with self._reading():
            numbers = read.whose(self._connection, session, None)
            return threads.touching(self._connection, numbers[0]) if numbers else []

    def tail(self, session: str, /) -> "Sketch | None":
        """Return the turn that a session ends with, as far as it is near its end; None where that takes all of it."""
        from searchkit.backends.local.catalog.tail import tail

        with self._reading():
            numbers = read.whose(self._connection, session, None)
            return tail(self._connection, numbers[0]) if numbers else None
