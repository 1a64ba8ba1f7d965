"""One writer at a time: a lock that the operating system releases when its holder dies."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from searchkit.errors import IndexBusy, IndexUnwritable
from searchkit.system.files import open_private
from searchkit.system.locks import try_lock

# How often a waiting writer looks again.
RETRY_SECONDS = 0.2


@contextmanager
def writing(path: Path, wait: bool, on_wait: Callable[[str], None] = lambda holder: None) -> Iterator[None]:
    """Hold the lock while the block runs; tell who holds it, and wait for him or leave."""
    while True:
        with _opened(path) as descriptor:
            _lock(descriptor, wait, on_wait)
            # Its directory may have been moved away meanwhile, and somebody else may write where it was.
            if _is_there(descriptor, path):
                _sign(descriptor)
                yield
                os.ftruncate(descriptor, 0)
                return


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = open_private(path, os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise IndexUnwritable(f"cannot open {path}: {error.strerror}", "give yourself permission there") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, wait: bool, on_wait: Callable[[str], None]) -> None:
    has_told = False
    while not _try_lock(descriptor):
        holder = os.pread(descriptor, 1000, 0).decode("utf-8", "replace") or "another process"
        if not wait:
            raise IndexBusy(f"the index is being written by {holder}", "wait for it, or leave out --no-wait")
        if not has_told:
            on_wait(holder)
            has_told = True
        time.sleep(RETRY_SECONDS)


def _try_lock(descriptor: int) -> bool:
    try:
        return try_lock(descriptor)
    except OSError as error:
        raise IndexUnwritable(
            f"the file system of the index refuses locks: {error.strerror}",
            "put the index on a local disk: --index DIR or SEARCHKIT_INDEX",
        ) from error


def _is_there(descriptor: int, path: Path) -> bool:
    """Say whether an open file is the one that its path leads to."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _sign(descriptor: int) -> None:
    """Write into the lock who holds it."""
    # Whoever only reads the index does not wait for this.
    import socket

    since = datetime.now().astimezone().isoformat(timespec="seconds")
    # On a full disk nobody is told; the lock holds all the same.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {since}".encode(), 0)
