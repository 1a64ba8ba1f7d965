"""Waits for changes below the roots through the operating system's notifications."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from searchkit.sources import registry

# A run of writes is answered once: after this much quiet, or at the latest after the second figure.
QUIET_MILLISECONDS = 200
LATEST_MILLISECONDS = 1600
# The watcher sleeps in the kernel; it wakes this often only to see whether Python was interrupted.
WAKE_MILLISECONDS = 60_000


def changes_below(roots: Sequence[Path]) -> Iterator[None]:
    """Yield once as soon as nothing can be missed any more, then for every run of changes; ends when interrupted."""
    # Takes 60 ms to import, and only --watch needs it. The class rather than watchfiles.watch(), which
    # begins to watch only after its caller has asked for the first change.
    from watchfiles._rust_notify import RustNotify

    # Beside them lie logs and snapshots that change all the time, and perhaps the index itself.
    watched = tuple(path for root in roots for path in registry.watched(root))
    directories = [str(root) for root in roots]
    # The watcher lists all of them, too, but holds Python's one lock meanwhile: one on a dead network mount would
    # stop every thread, where this stops only the thread that watches.
    _list_directories(directories)
    with RustNotify(directories, False, False, 0, True, True) as watcher:
        yield
        while True:
            found = watcher.watch(LATEST_MILLISECONDS, QUIET_MILLISECONDS, WAKE_MILLISECONDS, None)
            if isinstance(found, set):
                if any(path.startswith(watched) for _, path in found):
                    yield
            elif found != "timeout":
                return


def _list_directories(directories: Sequence[str]) -> None:
    """List directories and all below them, each once, through links as the watcher does; return when all answered."""
    waiting, seen = list(directories), set[tuple[int, int]]()
    while waiting:
        directory = waiting.pop()
        try:
            found = os.stat(directory)
            if (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
            with os.scandir(directory) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir()]
        except OSError:
            # Missing or not to be listed: the watcher says so, or passes it over.
            continue
