"""Locks on open files, which the operating system releases however their holder ends, and that of a resident process.

Its file says who has it: `123`, or `123 after 99` where process 99 had it before and did not leave by
itself. A process that leaves by itself writes `left` behind that.
"""

import os
import sys
from pathlib import Path

from searchkit.system.files import open_private, read_private

if sys.platform == "win32":
    import msvcrt

    # Beyond any content, so that others can still read who holds the lock.
    _LOCKED_BYTE = 1 << 20

    def try_lock(descriptor: int) -> bool:
        """Take the lock, or say that another process has it."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock, or say that another process has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


# Two numbers and two words.
MAX_BYTES = 100
_LEFT = "left"


def hold(path: Path) -> int | None:
    """Take the lock and return its descriptor, which is never closed; None where another process has it.

    Raises NotPrivate where the file is not the user's alone: what a link leads to would be emptied.
    """
    descriptor = open_private(path, os.O_CREAT | os.O_RDWR)
    if not try_lock(descriptor):
        os.close(descriptor)
        return None
    before = os.read(descriptor, MAX_BYTES).decode("ascii", "replace").split()
    died = before[0] if before and before[0].isdecimal() and before[-1] != _LEFT else None
    # So that a process that no longer answers can be ended.
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, f"{os.getpid()} after {died}".encode() if died else str(os.getpid()).encode())
    return descriptor


def is_held(path: Path) -> bool:
    """Say whether a process has the lock. Its id would not do: one that nobody waited for still has that."""
    try:
        descriptor = open_private(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def holder(path: Path) -> int | None:
    """Return the process that took the lock last; None where that is not known."""
    return _number(path, 0)


def died_before(path: Path) -> int | None:
    """Return the process that had the lock before and was killed, or crashed; None where it left by itself."""
    return _number(path, 2)


def leave(descriptor: int) -> None:
    """Write into a lock that its holder leaves by himself; it is free once he is gone."""
    os.write(descriptor, f" {_LEFT}".encode())


def _number(path: Path, word: int) -> int | None:
    try:
        return int(read_private(path, MAX_BYTES).split()[word])
    except (OSError, ValueError, IndexError):
        return None
