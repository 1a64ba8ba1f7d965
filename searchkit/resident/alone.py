"""One process per index: a lock that is held for life, and that the operating system releases after any death."""

import os
import sys
from pathlib import Path


def hold(path: Path) -> int | None:
    """Take the lock and return its descriptor, which is never closed; None where another process has it."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    if not _try_lock(descriptor):
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
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    # Beyond any content, so that others can still read it.
    _LOCKED_BYTE = 1 << 20

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
