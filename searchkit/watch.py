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
    """Yield once for every run of changes; ends when interrupted."""
    from watchfiles import watch  # takes 60 ms to import, and only --watch needs it

    watched = tuple(str(root / name) for root in roots for name in WATCHED)
    for _ in watch(
        *roots,
        watch_filter=lambda change, path: path.startswith(watched),
        debounce=LATEST_MILLISECONDS,
        step=QUIET_MILLISECONDS,
        rust_timeout=WAKE_MILLISECONDS,
        raise_interrupt=False,
    ):
        yield
