"""Whether the process is still where clients look for it, and what it serves is still there."""

import os
from pathlib import Path

from searchkit.backends.local import layout
from searchkit.errors import IndexMissing, SearchkitError
from searchkit.server import address
from searchkit.server.doors import Doors
from searchkit.server.outdated import is_outdated

# An upgrade under the process is noticed with the next command anyhow.
OUTDATED_SECONDS = 20.0


class Presence:
    """The files by which the process is found; those of a successor are never touched."""

    def __init__(self, index: Path, doors: Doors) -> None:
        """Remember what is there now."""
        self._index = index
        self._doors = doors
        self._directory = _identity(index)
        self._path = address.socket_path(index) if address.HAS_SOCKETS else address.door_path(index)
        self._file = _identity(self._path)
        is_outdated()
        self._is_missing = False

    def lost(self) -> str | None:
        """Say what is gone or became another, or None while all is as it was."""
        if _identity(self._index) != self._directory:
            return "the directory of the index is gone"
        if address.HAS_SOCKETS and _identity(self._path) != self._file:
            return "its socket is gone"
        if is_outdated(OUTDATED_SECONDS):
            return "searchkit was changed or removed"
        try:
            layout.check(self._index)
        except IndexMissing as error:
            # Whoever builds it anew because it cannot be read moves it aside first, and is done in a moment.
            was_missing, self._is_missing = self._is_missing, True
            return error.message if was_missing else None
        except SearchkitError as error:
            return error.message
        self._is_missing = False
        return None

    def leave(self) -> None:
        """Take away what leads here, so that the next client starts another process at once."""
        if _identity(self._index) == self._directory:
            self._doors.forget()
        if address.HAS_SOCKETS and _identity(self._path) == self._file:
            self._path.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
