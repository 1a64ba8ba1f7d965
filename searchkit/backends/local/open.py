"""Opens the backend to write, alone; migrates an index of an older format, salvages a damaged one."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from searchkit.backends.local import layout
from searchkit.backends.local.backend import LocalBackend
from searchkit.errors import IndexBusy, IndexDamaged, IndexUnwritable, IndexVersion
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
    # A process that only reads the index does not wait for this.
    import socket

    since = datetime.now().astimezone().isoformat(timespec="seconds")
    # On a full disk nobody is told; the lock holds all the same.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {since}".encode(), 0)


# Opens the backend to write, alone; an index of an older format is migrated, a damaged one salvaged.


@contextmanager
def open_to_write(
    directory: Path,
    wait: bool = True,
    on_wait: Callable[[str], None] = lambda holder: None,
    is_rebuild: bool = False,
) -> Iterator[LocalBackend]:
    """Hold the lock and yield the backend.

    To rebuild keeps what the transcripts no longer have. Of a catalog that cannot be read through, what can be
    read is copied, and the damaged file is moved aside, never deleted.
    """
    try:
        layout.make_directory(directory)
        layout.check_owner(directory)
    except OSError as error:
        raise IndexUnwritable(
            f"cannot make {directory}: {error.strerror}",
            "name another directory with --index or SEARCHKIT_INDEX",
        ) from error
    with writing(directory / layout.LOCK, wait, on_wait):
        backend = _open(directory, is_rebuild)
        try:
            yield backend
            backend.vectors.finish_rebuild()
        finally:
            backend.close()


def _open(directory: Path, is_rebuild: bool) -> LocalBackend:
    # Only who writes needs it.
    from searchkit.backends.local.migrate import is_salvage_unfinished, salvage

    try:
        _remove_left_over(directory)
        if is_salvage_unfinished(directory):
            salvage(directory)
        _migrate(directory)
        backend = LocalBackend(directory, is_writable=True)
        if not is_rebuild:
            backend.finish_forgetting()
            return backend
        if backend.begin_rebuild():
            return backend
        backend.close()
    except IndexVersion as fault:
        if not is_rebuild or fault.is_older:
            raise
        layout.set_aside(directory, datetime.now().strftime(layout.STAMP))
        return LocalBackend(directory, is_writable=True)
    except IndexDamaged:
        if not is_rebuild:
            raise
    except OSError as error:
        raise layout.unwritable(directory, error) from error
    try:
        salvage(directory)
    except OSError as error:
        raise layout.unwritable(directory, error) from error
    backend = LocalBackend(directory, is_writable=True)
    if not backend.begin_rebuild():
        backend.close()
        raise IndexDamaged(
            f"what could be copied of {directory / layout.CATALOG} is damaged, too",
            f"the old catalog is below {directory / layout.ASIDE}: keep that, and index into another --index",
        )
    return backend


def _migrate(directory: Path) -> None:
    from searchkit.backends.local.migrate import migrate, version_of

    version = version_of(directory)
    if version is not None and 0 < version < layout.FORMAT:
        migrate(directory, version)


def _remove_left_over(directory: Path) -> None:
    """Remove what a process that was killed had begun and nobody needs."""
    for name in (layout.NEW_KEYWORD, layout.OLD_KEYWORD):
        shutil.rmtree(directory / name, ignore_errors=True)
    shutil.rmtree(directory / layout.ASIDE / layout.MIGRATING, ignore_errors=True)
