"""A disk that a test fills: the fixture `small_disk` mounts one."""

import errno
import os
from pathlib import Path


def fill(disk: Path, left_bytes: int = 0) -> Path:
    """Leave so many bytes free, and return the file that takes the others."""
    path = disk / "filler"
    filler = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        while os.write(filler, bytes(4096)):
            pass
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.ftruncate(filler, max(0, os.fstat(filler).st_size - left_bytes))
    finally:
        os.close(filler)
    return path
