"""One process per index: a lock that is held for life, and that the operating system releases after any death."""

import os
from pathlib import Path

from searchkit.locking import try_lock


def hold(path: Path) -> int | None:
    """Take the lock and return its descriptor, which is never closed; None where another process has it."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    if not try_lock(descriptor):
        os.close(descriptor)
        return None
    # For whoever must end a process that does not answer any more.
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    return descriptor


def is_held(path: Path) -> bool:
    """Say whether a process has the lock. Its id would not do: one that nobody waited for still has that."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)
