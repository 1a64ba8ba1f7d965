"""A lock on an open file, which the operating system releases however its holder ends."""

import os
import sys

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
