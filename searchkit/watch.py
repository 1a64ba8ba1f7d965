"""Waits for changes below the roots through the operating system's notifications."""

from collections.abc import Iterator, Sequence
from pathlib import Path

# What Claude Code writes that is worth reading. Beside it lie logs and snapshots that change all
# the time, and perhaps the index itself.
WATCHED = ("projects", "todos", "tasks", "plans", "history.jsonl")
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

    watched = tuple(str(root / name) for root in roots for name in WATCHED)
    directories = [str(root) for root in roots]
    with RustNotify(directories, False, False, 0, True, True) as watcher:
        yield
        while True:
            found = watcher.watch(LATEST_MILLISECONDS, QUIET_MILLISECONDS, WAKE_MILLISECONDS, None)
            if isinstance(found, set):
                if any(path.startswith(watched) for _, path in found):
                    yield
            elif found != "timeout":
                return
