"""Opens regular files only: a pipe in place of a transcript would be waited for, a device read without end."""

import errno
import os
import stat
import time
from typing import BinaryIO

# A file that another program holds a lease on (Samba, an NFS server) is given up by it within this, or is unreadable.
LEASE_ATTEMPTS = 20
LEASE_PAUSE_SECONDS = 0.05
# Opening a pipe to read otherwise waits for somebody who writes; a regular file does not mind. Windows has neither.
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_regular(path: str, buffering: int = -1) -> BinaryIO:
    """Open a file to read its bytes; raises OSError where it cannot be read, or is no regular file."""
    return open(path, "rb", buffering, opener=_open_checked)


def _open_checked(path: str, flags: int) -> int:
    descriptor = _open(path, flags | _WITHOUT_WAITING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no regular file", path)
    return descriptor


def _open(path: str, flags: int) -> int:
    for attempt in range(1, LEASE_ATTEMPTS + 1):
        try:
            return os.open(path, flags)
        except BlockingIOError:
            if attempt == LEASE_ATTEMPTS:
                raise
            time.sleep(LEASE_PAUSE_SECONDS)
    raise AssertionError
